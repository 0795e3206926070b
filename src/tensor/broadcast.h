/* Walks several operands of one broadcast at once: dimensions are merged where all operands allow it,
 * and the innermost run is given to a function in one piece.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_BROADCAST_H
#define IRRUN_TENSOR_BROADCAST_H

#include "tensor/shape.h"

#define BROADCAST_MAX_OPERANDS 6

/* What one op of a plan keeps: the merged loops. Strides count elements; 0 = the operand stands still. */
struct broadcast {
    uint32_t n_operands; /* operand 0 is the output: never broadcast */
    uint32_t rank;       /* of the merged loops, without the innermost */
    int64_t dims[IRRUN_MAX_RANK];
    int64_t strides[BROADCAST_MAX_OPERANDS][IRRUN_MAX_RANK];
    int64_t n_inner; /* length of the innermost run; 0 = the output is empty */
    int64_t inner_strides[BROADCAST_MAX_OPERANDS]; /* 1 or 0 */
};

/* shapes[0] is the output's; every other shape must broadcast to it by numpy's rules. */
void broadcast_plan(struct broadcast *plan, uint32_t n_operands,
                    const struct irrun_shape *const *shapes);

/* Calls visit once for every innermost run, with the element offsets of all operands. Stops and
 * returns false as soon as visit does. */
typedef bool broadcast_visit_fn(void *context, const int64_t *offsets);
bool broadcast_walk(const struct broadcast *plan, broadcast_visit_fn *visit, void *context);

#endif
