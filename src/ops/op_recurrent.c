/* The recurrent ops, one row each: LSTM, GRU and RNN as a cell, as a sequence, and as a cell over
 * time, which is internal (internal_ops.h). Formulas, per element of the batch, with activations f,
 * g and h, gates f, i, o, z and r, and the candidate c:
 *
 *   LSTM  C = f * C0 + i * c,  H = o * h(C); gates in the order f, i, c, o
 *   GRU   H = (1 - z) * c + z * H0; gates in the order z, r, c:
 *         c = g(W_c X + R_c (r * H0) + B_c), or, with linear_before_reset,
 *         c = g(W_c X + r * (R_c H0 + B_Rc) + B_Wc)
 *   RNN   H = f(W X + R H0 + B)
 *
 * A sequence runs sequence_lengths steps. LSTMCell-1 and LSTMSequence-1 add peepholes and an input
 * gate tied to the forget gate. irrun supports both; OpenVINO's CPU plugin ignores them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/cost.h"
#include "ops/internal_ops.h"
#include "ops/recurrent_op.h"

/* ---- inputs ---- */

#define INPUT_OF(name_, types_, same_, is_optional_)                                               \
    {                                                                                              \
        .name = name_, .types = (types_), .same = same_, .is_optional = is_optional_               \
    }
#define INPUT(name_) INPUT_OF(name_, TYPES_FLOAT, 1, false)
#define OPTIONAL(name_) INPUT_OF(name_, TYPES_FLOAT, 1, true)
#define X_H INPUT("X"), INPUT("initial_hidden_state")
#define X_H_C X_H, INPUT("initial_cell_state")
#define LENGTHS INPUT_OF("sequence_lengths", TYPES_INTEGER, 0, false)
#define W_R_B INPUT("W"), INPUT("R"), INPUT("B")
#define W_R_OPTIONAL_B INPUT("W"), INPUT("R"), OPTIONAL("B")
#define INPUTS(...) ((const struct op_input_def[]){__VA_ARGS__})

/* The input tables also allow the legacy form, so that recurrent_infer can report it: five inputs,
 * with W and R concatenated in the fourth. */
#define LENGTHS_OR_LEGACY INPUT_OF("sequence_lengths", TYPES_INTEGER | TYPES_FLOAT, 0, false)
#define W_OR_LEGACY INPUT("W"), OPTIONAL("R"), OPTIONAL("B")

/* ---- attributes ---- */

#define CELL_ATTRS                                                                                 \
    ATTR(struct recurrent_attrs, hidden_size, NULL),                                               \
        ATTR(struct recurrent_attrs, activations, ""),                                             \
        ATTR(struct recurrent_attrs, activations_alpha, ""),                                       \
        ATTR(struct recurrent_attrs, activations_beta, ""),                                        \
        ATTR(struct recurrent_attrs, clip, "0")
#define SEQUENCE_ATTRS                                                                             \
    CELL_ATTRS,                                                                                    \
        ATTR_CHOICE(struct recurrent_attrs, direction, "forward", "forward|reverse|bidirectional")
#define GRU_ATTR ATTR(struct recurrent_attrs, linear_before_reset, "false")
#define LSTM_V1_ATTRS                                                                              \
    ATTR(struct recurrent_attrs, input_forget, "false"),                                           \
        ATTR_CHOICE(struct recurrent_attrs, weights_format, "fico", "fico|icof|ifco|ifoc|iofc")
#define ATTRS(...) ((const struct attr_def[]){__VA_ARGS__})

/* ---- rows ---- */

enum form { FORM_CELL, FORM_SEQUENCE, FORM_OVER_TIME };

#define N_STATES(kind_) ((kind_) == RECURRENT_LSTM ? 2 : 1)
#define FIRST_WEIGHT(kind_, form_) (1 + N_STATES(kind_) + ((form_) == FORM_SEQUENCE))

/* Counts the products by W and R in all steps and directions. */
static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    const struct recurrent_family *family = recurrent_family_of(op);
    const struct irrun_shape *x = &in[family->x]->shape;
    double n_columns = x->rank > 0 ? (double)x->dims[x->rank - 1] : 0;
    (void)out;
    if (family->r >= op->n_inputs) /* the legacy form, which infer rejects */
        return 0;
    return 2 * cost_ratio(cost_n(in[family->x]), n_columns) *
           (cost_n(in[family->w]) + cost_n(in[family->r]));
}

#define ROW(type_, kind_, form_, inputs_, attrs_, ...)                                             \
    {                                                                                              \
        .type = type_, OP_INPUTS(inputs_), OP_ATTR_TABLE(attrs_),                                  \
        .n_outputs = N_STATES(kind_) + ((form_) != FORM_CELL), .n_outputs_min = 1,                 \
        .family =                                                                                  \
            &(const struct recurrent_family){                                                      \
                .kind = kind_,                                                                     \
                .is_sequence = (form_) != FORM_CELL,                                               \
                .x = 0,                                                                            \
                .h0 = 1,                                                                           \
                .c0 = (kind_) == RECURRENT_LSTM ? 2 : NO_INPUT,                                    \
                .lengths = (form_) == FORM_SEQUENCE ? 1 + N_STATES(kind_) : NO_INPUT,              \
                .w = FIRST_WEIGHT(kind_, form_),                                                   \
                .r = FIRST_WEIGHT(kind_, form_) + 1,                                               \
                .b = FIRST_WEIGHT(kind_, form_) + 2,                                               \
                .p = FIRST_WEIGHT(kind_, form_) + 3,                                               \
            },                                                                                     \
        .flags = OP_MULTIPLIES_BF16, .rounded_inputs = 3U << FIRST_WEIGHT(kind_, form_),           \
        .attrs_size = sizeof(struct recurrent_attrs),                                              \
        .state_size = sizeof(struct recurrent_state), .infer = recurrent_infer,                    \
        .prepacks = recurrent_prepacks, .prepare = recurrent_prepare, .run = recurrent_run,        \
        .flops = flops, __VA_ARGS__                                                                \
    }

const struct op_def op_lstm_cell_v1 =
    ROW("LSTMCell", RECURRENT_LSTM, FORM_CELL, INPUTS(X_H_C, W_R_OPTIONAL_B, OPTIONAL("P")),
        ATTRS(CELL_ATTRS, LSTM_V1_ATTRS), .opset = 1, .opset_last = 3);
const struct op_def op_lstm_cell_v4 =
    ROW("LSTMCell", RECURRENT_LSTM, FORM_CELL, INPUTS(X_H_C, W_R_OPTIONAL_B), ATTRS(CELL_ATTRS),
        .opset = 4);
const struct op_def op_gru_cell =
    ROW("GRUCell", RECURRENT_GRU, FORM_CELL, INPUTS(X_H, W_R_OPTIONAL_B),
        ATTRS(CELL_ATTRS, GRU_ATTR), .opset = 3, .is_extension = true);
const struct op_def op_rnn_cell = ROW("RNNCell", RECURRENT_RNN, FORM_CELL, INPUTS(X_H, W_R_B),
                                      ATTRS(CELL_ATTRS), .opset = 1, .is_extension = true);

const struct op_def op_lstm_sequence_v1 =
    ROW("LSTMSequence", RECURRENT_LSTM, FORM_SEQUENCE,
        INPUTS(X_H_C, LENGTHS_OR_LEGACY, W_OR_LEGACY, OPTIONAL("P")),
        ATTRS(SEQUENCE_ATTRS, LSTM_V1_ATTRS), .opset = 1, .opset_last = 4);
const struct op_def op_lstm_sequence_v5 =
    ROW("LSTMSequence", RECURRENT_LSTM, FORM_SEQUENCE, INPUTS(X_H_C, LENGTHS, W_R_B),
        ATTRS(SEQUENCE_ATTRS), .opset = 5);
const struct op_def op_gru_sequence =
    ROW("GRUSequence", RECURRENT_GRU, FORM_SEQUENCE, INPUTS(X_H, LENGTHS, W_R_B),
        ATTRS(SEQUENCE_ATTRS, GRU_ATTR), .opset = 5);
const struct op_def op_rnn_sequence =
    ROW("RNNSequence", RECURRENT_RNN, FORM_SEQUENCE, INPUTS(X_H, LENGTHS, W_R_B),
        ATTRS(SEQUENCE_ATTRS), .opset = 5);

/* The pass that inserts these ops sets their attributes. */
const struct op_def op_lstm_over_time = ROW("LSTMCell", RECURRENT_LSTM, FORM_OVER_TIME,
                                            INPUTS(X_H_C, W_R_OPTIONAL_B), ATTRS(CELL_ATTRS), );
const struct op_def op_gru_over_time =
    ROW("GRUCell", RECURRENT_GRU, FORM_OVER_TIME, INPUTS(X_H, W_R_OPTIONAL_B), ATTRS(CELL_ATTRS), );
const struct op_def op_rnn_over_time =
    ROW("RNNCell", RECURRENT_RNN, FORM_OVER_TIME, INPUTS(X_H, W_R_B), ATTRS(CELL_ATTRS), );
