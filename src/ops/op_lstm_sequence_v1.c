/* LSTMSequence-1 (opset1 to opset4): LSTMCell-1 over time. Files of 2020 hold another op under this
 * name, with five inputs, W and R in one and the time first: refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/recurrent_common.h"

static const struct recurrent_family family = {
    .kind = RECURRENT_LSTM,
    .is_sequence = true,
    .x = 0,
    .h0 = 1,
    .c0 = 2,
    .lengths = 3,
    .w = 4,
    .r = 5,
    .b = 6,
    .p = 7,
    .n_activations = 3,
    .activations = {"sigmoid", "tanh", "tanh"},
};

static const struct op_input_def inputs[] = {
    {.name = "X", .types = TYPES_FLOAT, .same = 1},
    {.name = "initial_hidden_state", .types = TYPES_FLOAT, .same = 1},
    {.name = "initial_cell_state", .types = TYPES_FLOAT, .same = 1},
    {.name = "sequence_lengths", .types = TYPES_INTEGER | TYPES_FLOAT},
    {.name = "W", .types = TYPES_FLOAT, .same = 1},
    {.name = "R", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {.name = "B", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {.name = "P", .types = TYPES_FLOAT, .same = 1, .is_optional = true},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    RECURRENT_ATTRS,
    RECURRENT_SEQUENCE_ATTRS,
    RECURRENT_LSTM_V1_ATTRS,
    ATTR_END,
};

/* The table above lets the legacy form pass so that it can be named here. */
static bool lstm_sequence_v1_infer(struct infer *infer)
{
    if (infer->n_inputs == family.r) {
        infer_fail(infer, "five inputs make it the legacy LSTMSequence of 2020, with W and R "
                          "in one, which irrun does not have; expected X, initial_hidden_state, "
                          "initial_cell_state, sequence_lengths, W, R, and optionally B and P");
        infer->err->code = IRRUN_UNSUPPORTED;
        return false;
    }
    if (!dtype_is_integer(infer->in[family.lengths]->dtype))
        return infer_fail_input(infer, family.lengths, "an integer type");
    return recurrent_infer(infer);
}

const struct op_def op_lstm_sequence_v1 = {
    .type = "LSTMSequence",
    .opset = 1,
    .opset_last = 4,
    .n_outputs = 3,
    .n_outputs_min = 1,
    RECURRENT_OP(inputs, attr_table, family, lstm_sequence_v1_infer, recurrent_run),
};
