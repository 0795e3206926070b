/* RNNSequence-5: RNNCell over time, per element of the batch as many steps as sequence_lengths
 * says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/recurrent_common.h"

static const struct recurrent_family family = {
    .kind = RECURRENT_RNN,
    .is_sequence = true,
    .x = 0,
    .h0 = 1,
    .c0 = NO_INPUT,
    .lengths = 2,
    .w = 3,
    .r = 4,
    .b = 5,
    .p = NO_INPUT,
    .n_activations = 1,
    .activations = {"tanh"},
};

static const struct op_input_def inputs[] = {
    {.name = "X", .types = TYPES_FLOAT, .same = 1},
    {.name = "initial_hidden_state", .types = TYPES_FLOAT, .same = 1},
    {.name = "sequence_lengths", .types = TYPES_INTEGER},
    {.name = "W", .types = TYPES_FLOAT, .same = 1},
    {.name = "R", .types = TYPES_FLOAT, .same = 1},
    {.name = "B", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    RECURRENT_ATTRS,
    RECURRENT_SEQUENCE_ATTRS,
    ATTR_END,
};

const struct op_def op_rnn_sequence = {
    .type = "RNNSequence",
    .opset = 5,
    .n_outputs = 2,
    .n_outputs_min = 1,
    RECURRENT_OP(inputs, attr_table, family, recurrent_infer, recurrent_run),
};
