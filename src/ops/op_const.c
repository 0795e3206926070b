/* Const-1: bytes of the .bin file. The engine sets the value. The oldest IRs give the type and
 * shape only in the output port, where the reader then finds them, so these attributes are
 * optional.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

static const struct attr_def attr_table[] = {
    ATTR(struct const_attrs, element_type, "dynamic"),
    ATTR(struct const_attrs, shape, ""),
    ATTR(struct const_attrs, offset, NULL),
    ATTR(struct const_attrs, size, NULL),
};

const struct op_def op_const = {
    .type = "Const",
    .opset = 1,
    .role = ROLE_CONST,
    .flags = OP_DATA_MOVEMENT,
    OP_ATTRS(attr_table, struct const_attrs),
};
