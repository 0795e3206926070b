/* Assign-3 (opset3 to 5) and Assign-6: sets the next value of a variable and outputs it. The engine
 * commits the value at the end of the iteration. The type and the shape of the variable are those
 * of its ReadValue.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

static const struct attr_def attr_table[] = {ATTR(struct assign_attrs, variable_id, NULL)};

#define ASSIGN(first, last)                                                                        \
    {                                                                                              \
        .type = "Assign", .opset = first, .opset_last = last, .role = ROLE_ASSIGN,                 \
        .flags = OP_DATA_MOVEMENT, OP_ONE_INPUT("new_value", TYPES_ANY),                           \
        OP_ATTRS(attr_table, struct assign_attrs),                                                 \
    }

const struct op_def op_assign_v3 = ASSIGN(3, 5);
const struct op_def op_assign_v6 = ASSIGN(6, 0);
