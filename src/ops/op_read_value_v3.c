/* ReadValue-3 (opset3 to 5): the value of a variable before this iteration; the initial value while
 * it is unset. The variable has the type and shape of the initial value. The engine gives the
 * value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

static const struct op_input_def inputs[] = {
    {.name = "init_value", .types = TYPES_ANY},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    ATTR(struct read_value_attrs, variable_id, NULL),
    ATTR(struct read_value_attrs, variable_type, "dynamic"),
    ATTR(struct read_value_attrs, variable_shape, "..."),
    ATTR_END,
};

const struct op_def op_read_value_v3 = {
    .type = "ReadValue",
    .opset = 3,
    .opset_last = 5,
    .role = ROLE_READ_VALUE,
    .flags = OP_MOVES,
    .inputs = inputs,
    .n_outputs = 1,
    .attrs = attr_table,
    .attrs_size = sizeof(struct read_value_attrs),
};
