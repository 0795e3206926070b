/* ReadValue-6 (opset6 and later): as ReadValue-3, with a type and shape of its own if it says so,
 * and zeros if there is no initial value. The engine gives the value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

static const struct op_input_def inputs[] = {
    {.name = "init_value", .types = TYPES_ANY, .is_optional = true},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    ATTR(struct read_value_attrs, variable_id, NULL),
    ATTR(struct read_value_attrs, variable_type, "dynamic"),
    ATTR(struct read_value_attrs, variable_shape, "..."),
    ATTR_END,
};

const struct op_def op_read_value_v6 = {
    .type = "ReadValue",
    .opset = 6,
    .role = ROLE_READ_VALUE,
    .flags = OP_MOVES,
    .inputs = inputs,
    .n_outputs = 1,
    .attrs = attr_table,
    .attrs_size = sizeof(struct read_value_attrs),
};
