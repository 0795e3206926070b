/* LSTMCell-4 (opset4 and later): one step of an LSTM, gates in the order f, i, c, o:
 *   C = f * C0 + i * c,  H = o * h(C).
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
    .p = NO_INPUT,
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
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    RECURRENT_ATTRS,
    ATTR_END,
};

const struct op_def op_lstm_cell_v4 = {
    .type = "LSTMCell",
    .opset = 4,
    .n_outputs = 2,
    .n_outputs_min = 1,
    RECURRENT_OP(inputs, attr_table, family, recurrent_infer, recurrent_run),
};
