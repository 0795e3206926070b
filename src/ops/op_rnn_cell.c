/* RNNCell: one step of a plain recurrent net, H = f(W X + R H0 + B).
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/recurrent_common.h"

static const struct recurrent_family family = {
    .kind = RECURRENT_RNN,
    .x = 0,
    .h0 = 1,
    .c0 = NO_INPUT,
    .lengths = NO_INPUT,
    .w = 2,
    .r = 3,
    .b = 4,
    .p = NO_INPUT,
    .n_activations = 1,
    .activations = {"tanh"},
};

static const struct op_input_def inputs[] = {
    {.name = "X", .types = TYPES_FLOAT, .same = 1},
    {.name = "initial_hidden_state", .types = TYPES_FLOAT, .same = 1},
    {.name = "W", .types = TYPES_FLOAT, .same = 1},
    {.name = "R", .types = TYPES_FLOAT, .same = 1},
    {.name = "B", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    RECURRENT_ATTRS,
    ATTR_END,
};

const struct op_def op_rnn_cell = {
    .type = "RNNCell",
    .opset = 1,
    .is_extension = true,
    .n_outputs = 1,
    RECURRENT_OP(inputs, attr_table, family, recurrent_infer, recurrent_run),
};
