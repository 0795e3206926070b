/* GRUCell-3: one step of a GRU, gates in the order z, r, h:
 *   H = (1 - z) * h + z * H0,  h = g(W_h X + R_h (r * H0) + B_h), or, with linear_before_reset,
 *   h = g(W_h X + r * (R_h H0 + B_Rh) + B_Wh).
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/recurrent_common.h"

static const struct recurrent_family family = {
    .kind = RECURRENT_GRU,
    .x = 0,
    .h0 = 1,
    .c0 = NO_INPUT,
    .lengths = NO_INPUT,
    .w = 2,
    .r = 3,
    .b = 4,
    .p = NO_INPUT,
    .n_activations = 2,
    .activations = {"sigmoid", "tanh"},
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
    ATTR(struct recurrent_attrs, linear_before_reset, "false"),
    ATTR_END,
};

const struct op_def op_gru_cell = {
    .type = "GRUCell",
    .opset = 3,
    .is_extension = true,
    .n_outputs = 1,
    RECURRENT_OP(inputs, attr_table, family, recurrent_infer, recurrent_run),
};
