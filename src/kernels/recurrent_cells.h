/* The part of an LSTM, GRU or RNN step after the product of a panel: activations and the update of
 * the state, for the hidden units of one panel and one element of the batch.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RECURRENT_CELLS_H
#define IRRUN_KERNELS_RECURRENT_CELLS_H

#include "kernels/recurrent.h"

/* The units of a panel: 64 or 96 columns, enough sums to hide the latency of FMA with a single
 * row. */
enum { LSTM_PANEL_UNITS = 16, GRU_PANEL_UNITS = 32, RNN_PANEL_UNITS = 64 };

/* U units of one element of the batch. Arrays of [n][U] may be read up to 15 floats past their end;
 * state may be read and written as far. */
struct recurrent_row {
    size_t units;           /* U */
    const float *gates;     /* [G][U], both products and the biases in it; GRU with
                             * linear_before_reset: the part of h, with the second bias in gate h */
    const float *x_gates;   /* [3][U], GRU only: the part of x */
    const float *peepholes; /* [3][U], LSTM only: f, i, o; NULL = zeros */
    const float *h;
    float *h_next; /* GRU's reset: r * h */
    float *c;      /* of LSTM; z of GRU from reset to update */
};

typedef void recurrent_cell_fn(const struct recurrent *rules, const struct recurrent_row *row);

/* lstm, gru_linear and rnn with the default activations (no clip, no peepholes), the same with any
 * activations, clip and peepholes, and the two halves of GRU without linear_before_reset: reset
 * takes gates z and r, and stores z in c; update takes gate h, and reads z from c. */
struct recurrent_cells {
    recurrent_cell_fn *lstm, *gru_linear, *rnn;
    recurrent_cell_fn *lstm_any, *gru_linear_any, *rnn_any;
    recurrent_cell_fn *gru_reset_any, *gru_update_any;
};

#endif
