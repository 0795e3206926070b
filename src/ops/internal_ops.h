/* Ops that no IR file names: what passes over the graph put in the place of others. They have no
 * rows in ops.def, so no layer can mean them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INTERNAL_OPS_H
#define IRRUN_OPS_INTERNAL_OPS_H

#include "ops/recurrent_op.h"

/* Attributes of the three that follow. */
struct axis_attrs {
    int64_t axis;
};

extern const struct op_def op_insert_axis; /* a view with a dimension of 1 before axis */
extern const struct op_def op_drop_axis;   /* a view without axis, whose dimension is 1 */
extern const struct op_def op_swap_axes;   /* axes 0 and 1 of a tensor of rank 3 change places */

/* MatMul with a third input: the order of a Transpose of the last two dimensions that was in
 * front of input 1, and is folded into its transpose_b. Attributes: struct matmul_attrs. */
extern const struct op_def op_matmul_transposed;

/* A cell run over all steps of X [batch, time, input size]: the sequence op of the family with one
 * direction and no sequence_lengths. Unlike that, no step at all leaves the state as it came in.
 * Attributes: struct recurrent_attrs. Inputs: X, H0 (, C0), W, R (, B); outputs: Y, Ho (, Co). */
extern const struct op_def op_lstm_over_time;
extern const struct op_def op_gru_over_time;
extern const struct op_def op_rnn_over_time;

#endif
