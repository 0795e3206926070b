/* What the element-wise ops of two broadcast operands share with PReLU.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_ELEMENTWISE_H
#define IRRUN_OPS_ELEMENTWISE_H

#include "ops/op.h"
#include "tensor/broadcast.h"

struct binary_state {
    struct broadcast loops;
    binary_fn *fn;
    binary_fn *vector; /* takes the innermost run as it is; NULL: fn does, through binary_apply */
    size_t operand_bytes, out_bytes; /* of an element */
};

/* The loops for operands of these shapes; the rest of the state is filled by binary_prepare. */
bool binary_plan(struct infer *infer, const struct irrun_shape *out, const struct irrun_shape *a,
                 const struct irrun_shape *b);

/* The op's family is an enum binary_operation, by address. */
bool binary_prepare(struct prepare *prepare);
bool binary_run(const struct step *step, struct irrun_error *err);

#endif
