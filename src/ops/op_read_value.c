/* ReadValue-3 (opset3 to 5) and ReadValue-6: return the value of a variable before this iteration,
 * or the initial value while the variable is unset. The engine sets the value. The variable of
 * ReadValue-3 has the type and shape of the initial value. ReadValue-6 may declare type and shape;
 * its variable starts with zeros if there is no initial value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

static const struct op_input_def inputs_v3[] = {{.name = "init_value", .types = TYPES_ANY}};

static const struct op_input_def inputs_v6[] = {
    {.name = "init_value", .types = TYPES_ANY, .is_optional = true},
};

static const struct attr_def attr_table[] = {
    ATTR(struct read_value_attrs, variable_id, NULL),
    ATTR(struct read_value_attrs, variable_type, "dynamic"),
    ATTR(struct read_value_attrs, variable_shape, "..."),
};

#define READ_VALUE(first, last, inputs_)                                                           \
    {                                                                                              \
        .type = "ReadValue", .opset = first, .opset_last = last, .role = ROLE_READ_VALUE,          \
        .flags = OP_DATA_MOVEMENT, OP_INPUTS(inputs_),                                             \
        OP_ATTRS(attr_table, struct read_value_attrs),                                             \
    }

const struct op_def op_read_value_v3 = READ_VALUE(3, 5, inputs_v3);
const struct op_def op_read_value_v6 = READ_VALUE(6, 0, inputs_v6);
