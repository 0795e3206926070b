/* The part of an LSTM, GRU or RNN step after the product of a panel: activations and the update of
 * the state, for the hidden units of one panel and one batch element.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RECURRENT_CELLS_H
#define IRRUN_KERNELS_RECURRENT_CELLS_H

#include "kernels/recurrent.h"

/* The hidden units of a panel, so that it has 64 or 96 columns: enough sums to hide the latency of
 * FMA with a single row. */
enum { LSTM_PANEL_UNITS = 16, GRU_PANEL_UNITS = 32, RNN_PANEL_UNITS = 64 };

/* U units of one batch element. Up to 15 floats past the end of arrays of [n][U] may be read; those
 * past the end of the state may also be written. */
struct recurrent_row {
    size_t units;           /* U */
    const float *gates;     /* [G][U], the sum of both products and the biases; GRU with
                             * linear_before_reset: only the product with h, with the second bias in
                             * gate h */
    const float *x_gates;   /* [3][U], GRU only: the product with x */
    const float *peepholes; /* [3][U], LSTM only: f, i, o; NULL = zeros */
    const float *h;
    float *h_next; /* GRU's reset stores r * h here */
    float *c;      /* LSTM: c; GRU: reset stores z here for update */
};

typedef void recurrent_cell_fn(const struct recurrent *rules, const struct recurrent_row *row);

/* lstm, gru_linear and rnn have the default activations, no clip and no peepholes; the *_any
 * functions accept all of them. A GRU without linear_before_reset has two halves: reset uses gates
 * z and r, and stores z in c; update uses gate h, and reads z from c. */
struct recurrent_cells {
    recurrent_cell_fn *lstm, *gru_linear, *rnn;
    recurrent_cell_fn *lstm_any, *gru_linear_any, *rnn_any;
    recurrent_cell_fn *gru_reset_any, *gru_update_any;
};

#endif
