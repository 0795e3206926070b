/* LSTMCell-1 (opset1 to opset3): one step of an LSTM, optionally with peepholes and an input gate
 * tied to the forget gate. Both of these OpenVINO's CPU plugin ignores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/recurrent_common.h"

static const struct recurrent_family family = {
    .kind = RECURRENT_LSTM,
    .x = 0,
    .h0 = 1,
    .c0 = 2,
    .lengths = NO_INPUT,
    .w = 3,
    .r = 4,
    .b = 5,
    .p = 6,
    .n_activations = 3,
    .activations = {"sigmoid", "tanh", "tanh"},
};

static const struct op_input_def inputs[] = {
    {.name = "X", .types = TYPES_FLOAT, .same = 1},
    {.name = "initial_hidden_state", .types = TYPES_FLOAT, .same = 1},
    {.name = "initial_cell_state", .types = TYPES_FLOAT, .same = 1},
    {.name = "W", .types = TYPES_FLOAT, .same = 1},
    {.name = "R", .types = TYPES_FLOAT, .same = 1},
    {.name = "B", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {.name = "P", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    RECURRENT_ATTRS,
    RECURRENT_LSTM_V1_ATTRS,
    ATTR_END,
};

const struct op_def op_lstm_cell_v1 = {
    .type = "LSTMCell",
    .opset = 1,
    .opset_last = 3,
    .n_outputs = 2,
    .n_outputs_min = 1,
    RECURRENT_OP(inputs, attr_table, family, recurrent_infer, recurrent_run),
};
