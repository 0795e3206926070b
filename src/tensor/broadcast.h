/* Loops over the operands of a broadcast: merges dimensions where all operands allow it, and passes
 * each innermost run to a function.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TENSOR_BROADCAST_H
#define IRRUN_TENSOR_BROADCAST_H

#include "base/arena.h"
#include "tensor/shape.h"

#define BROADCAST_MAX_OPERANDS 6

/* A loop around the innermost run. Strides are in elements; 0: the operand is repeated. */
struct broadcast_loop {
    int64_t n;
    int64_t strides[BROADCAST_MAX_OPERANDS];
};

/* The merged loops of one op. Most ops need only the innermost loop. */
struct broadcast {
    uint32_t n_operands; /* operand 0 is the output, which is never broadcast */
    uint32_t rank;       /* number of merged loops around the innermost */
    int64_t n_inner;     /* length of the innermost run; 0: the output is empty */
    int64_t inner_strides[BROADCAST_MAX_OPERANDS]; /* 1 or 0 */
    const struct broadcast_loop *loops;            /* [rank], outermost first */
};

/* Plans the loops. shapes[0] is the shape of the output; every other shape must broadcast to it by
 * NumPy's rules. The loops are in the arena. If memory runs out, fills *err and returns false. */
bool broadcast_plan(struct broadcast *plan, uint32_t n_operands,
                    const struct irrun_shape *const *shapes, struct arena *arena,
                    struct irrun_error *err);

/* Calls visit once for every innermost run, with the element offsets of all operands and the length
 * of the run. Stops and returns false as soon as visit does. */
typedef bool broadcast_visit_fn(void *context, const int64_t *offsets, size_t n);
bool broadcast_walk(const struct broadcast *plan, broadcast_visit_fn *visit, void *context);

/* Divide a walk into units that threads share. A unit is an iteration of the outermost loop or, if
 * the innermost is the only one, BROADCAST_UNIT elements, which fill whole vectors. */
#define BROADCAST_UNIT 64
size_t broadcast_n_units(const struct broadcast *plan);
bool broadcast_walk_units(const struct broadcast *plan, size_t begin, size_t end,
                          broadcast_visit_fn *visit, void *context);

/* Computes the offsets of all operands for element i of the output. */
void broadcast_offsets(const struct broadcast *plan, size_t i, size_t *offsets);

#endif
