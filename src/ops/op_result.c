/* Result-1: an output of the model or of a body. The engine reads its value.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"

const struct op_def op_result = {
    .type = "Result",
    .opset = 1,
    .role = ROLE_RESULT,
    .flags = OP_DATA_MOVEMENT,
    OP_ONE_INPUT("x", TYPES_ANY),
};
