/* Internal ops, inserted by passes over the graph. They have no rows in ops.def, so IR files cannot
 * contain them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INTERNAL_OPS_H
#define IRRUN_OPS_INTERNAL_OPS_H

#include "ops/recurrent_op.h"

/* Attributes of the next two ops. */
struct axis_attrs {
    int64_t axis;
};

extern const struct op_def op_insert_axis; /* a view with a dimension of 1 before axis */
extern const struct op_def op_drop_axis;   /* a view without axis, whose dimension is 1 */

extern const struct op_def op_swap_axes;      /* swaps axes 0 and 1 of a tensor of rank 3 */
extern const struct op_def op_channels_last;  /* moves dimension 1 to the end */
extern const struct op_def op_channels_first; /* moves the last dimension to position 1 */
extern const struct op_def op_prelu_last;     /* PReLU of data with the channels last */
extern const struct op_def op_identity;       /* a view */

/* Reshape to a shape in which 0 copies a dimension of the input and -1 is inferred, so that any
 * number of frames fits. Attributes: struct irrun_shape. */
extern const struct op_def op_reshape_frames;

struct n_frames_attrs {
    int64_t axis, batch;
};

/* Returns the number of frames, which is dimension `axis` of the input, as i64: once for each
 * element of dimension `batch`, or as a scalar if that is negative. */
extern const struct op_def op_n_frames;

struct one_position_attrs {
    uint32_t axis; /* counted from the end; an input of lower rank is returned whole */
    uint32_t rank; /* required rank of the input; 0: any */
    bool is_last;
};

/* Returns the first or last position of an axis, which remains as a dimension of 1. */
extern const struct op_def op_one_position;

/* MatMul with the Transpose of input 1 folded into transpose_b. The Transpose swaps the last two
 * dimensions; input 2 is its order. Attributes: struct matmul_attrs. */
extern const struct op_def op_matmul_transposed;

/* A normalization that a model writes out as several ops: MVN, or RMS normalization, which does not
 * subtract the mean. Attributes: struct mvn_attrs. */
extern const struct op_def op_norm;

/* Convert to f16 or bf16. A finite value beyond the range of the type becomes the largest number of
 * the type; from f16 to bf16, the largest bf16 that f16 can hold. Attributes: struct
 * convert_attrs. */
extern const struct op_def op_narrow;

/* Run a cell over all steps of X [batch, time, input size], like the LSTM, GRU or RNN sequence op
 * with one direction and no sequence_lengths. Unlike the sequence op, they leave the state
 * unchanged if there are no steps. Attributes: struct recurrent_attrs. Inputs: X, H0 (, C0), W, R
 * (, B); outputs: Y, Ho (, Co). */
extern const struct op_def op_lstm_over_time;
extern const struct op_def op_gru_over_time;
extern const struct op_def op_rnn_over_time;

#endif
