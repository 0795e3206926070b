/* What the element-wise families share: an op of two operands is a row that names its loop.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_ELEMENTWISE_H
#define IRRUN_OPS_ELEMENTWISE_H

#include "kernels/binary.h"
#include "ops/op.h"
#include "tensor/broadcast.h"

struct binary_attrs {
    int auto_broadcast;
    int64_t axis;     /* for pdpd */
    bool m_pythondiv; /* Divide of integers: rounded toward minus infinity */
};

struct binary_state {
    struct broadcast loops;
    binary_fn *fn;
    binary_fn *vector; /* takes the innermost run as it is; NULL: fn does, through binary_apply */
    size_t operand_bytes, out_bytes; /* of an element */
};

extern const struct attr_def binary_attr_table[];
extern const struct op_input_def binary_number_inputs[];

/* The loops for operands of these shapes; the rest of the state is filled by binary_prepare. */
bool binary_plan(struct infer *infer, const struct irrun_shape *out, const struct irrun_shape *a,
                 const struct irrun_shape *b);

/* family is an enum binary_operation, by address. */
bool binary_infer(struct infer *infer);
bool binary_prepare(struct prepare *prepare);
bool binary_run(const struct step *step, struct irrun_error *err);

#define BINARY_OP(object, type_, opset_, inputs_, operation)                                       \
    const struct op_def object = {                                                                 \
        .type = type_,                                                                             \
        .opset = opset_,                                                                           \
        .flags = OP_IN_PLACE | OP_BY_ELEMENT,                                                      \
        .inputs = inputs_,                                                                         \
        .n_outputs = 1,                                                                            \
        .attrs = binary_attr_table,                                                                \
        .attrs_size = sizeof(struct binary_attrs),                                                 \
        .state_size = sizeof(struct binary_state),                                                 \
        .family = &(const enum binary_operation){operation},                                       \
        .infer = binary_infer,                                                                     \
        .prepare = binary_prepare,                                                                 \
        .run = binary_run,                                                                         \
    }

#endif
