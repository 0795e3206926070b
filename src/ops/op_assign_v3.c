/* Assign-3 (opset3 to 5): the next value of a variable; its output is its input. The engine commits
 * it at the end of the iteration.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

static const struct op_input_def inputs[] = {
    {.name = "new_value", .types = TYPES_ANY},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    ATTR(struct assign_attrs, variable_id, NULL),
    ATTR_END,
};

const struct op_def op_assign_v3 = {
    .type = "Assign",
    .opset = 3,
    .opset_last = 5,
    .role = ROLE_ASSIGN,
    .flags = OP_MOVES,
    .inputs = inputs,
    .n_outputs = 1,
    .attrs = attr_table,
    .attrs_size = sizeof(struct assign_attrs),
};
