/* Parameter-1: an input of the model or of a body. The engine sets its value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

static const struct attr_def attr_table[] = {
    ATTR(struct parameter_attrs, element_type, NULL),
    ATTR(struct parameter_attrs, shape, NULL),
};

const struct op_def op_parameter = {
    .type = "Parameter",
    .opset = 1,
    .role = ROLE_PARAMETER,
    .flags = OP_DATA_MOVEMENT,
    OP_ATTRS(attr_table, struct parameter_attrs),
};
