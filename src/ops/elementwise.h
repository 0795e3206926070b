/* Shared by PReLU and the element-wise ops of two broadcast operands.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_ELEMENTWISE_H
#define IRRUN_OPS_ELEMENTWISE_H

#include "ops/op.h"
#include "tensor/broadcast.h"

struct binary_state {
    struct broadcast loops;
    binary_fn *fn;
    binary_fn *vector; /* runs the innermost loop directly; NULL: binary_apply with fn */
    size_t operand_bytes, out_bytes; /* of an element */
};

/* Plans the loops for operands of these shapes. binary_prepare fills the other members. */
bool binary_plan(struct infer *infer, const struct irrun_shape *out, const struct irrun_shape *a,
                 const struct irrun_shape *b);

/* Implement the functions of an op whose family points to its enum binary_operation. */
bool binary_prepare(struct prepare *prepare);
bool binary_run(const struct step *step, struct irrun_error *err);

#endif
