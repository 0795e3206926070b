/* The part of an LSTM, GRU or RNN step that follows the product of a panel: computes the
 * activations and updates the state, for the hidden units of one panel and one batch element.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RECURRENT_CELLS_H
#define IRRUN_KERNELS_RECURRENT_CELLS_H

#include "kernels/recurrent.h"

/* The number of hidden units per panel. It gives a panel 64 or 96 columns: enough sums to hide the
 * latency of FMAs even for a single row. */
enum { LSTM_PANEL_UNITS = 16, GRU_PANEL_UNITS = 32, RNN_PANEL_UNITS = 64 };

/* U units of one batch element. Up to 15 floats past the end of arrays [n][U] may be read; those
 * past the end of the state may also be written. */
struct recurrent_row {
    size_t units; /* U */
    /* [G][U], the sum of both products and the biases. For a GRU with linear_before_reset, only the
     * product with h, plus Rbh in gate h. */
    const float *gates;
    const float *x_gates;   /* [3][U], GRU only: the product with x */
    const float *peepholes; /* [3][U], LSTM only: f, i, o; NULL: zeros */
    const float *h;
    float *h_next; /* the next h; gru_reset_any stores r * h instead */
    float *c;      /* LSTM: c; GRU: z, from gru_reset_any to gru_update_any */
};

typedef void recurrent_cell_fn(const struct recurrent *rules, const struct recurrent_row *row);

/* lstm, gru_linear and rnn support only the default activations, no clip and no peepholes; the
 * *_any functions support all attributes. A GRU without linear_before_reset takes two functions:
 * gru_reset_any uses gates z and r, and stores z in c; gru_update_any uses gate h, and reads z from
 * c. */
struct recurrent_cells {
    recurrent_cell_fn *lstm, *gru_linear, *rnn;
    recurrent_cell_fn *lstm_any, *gru_linear_any, *rnn_any;
    recurrent_cell_fn *gru_reset_any, *gru_update_any;
};

#endif
