/* Activations and state updates of LSTM, GRU and RNN in plain C: the specification of the vector
 * variants.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/recurrent.h"

/* No large argument is ever exponentiated: exact to rounding at both ends. */
static float sigmoid(float z)
{
    if (z >= 0)
        return 1.0F / (1.0F + expf(-z));
    float e = expf(z);
    return e / (1.0F + e);
}

/* NaN falls through every comparison and stays NaN. */
static float clamp(float z, float low, float high)
{
    return z < low ? low : z > high ? high : z;
}

static float activate(const struct recurrent_activation *activation, float z)
{
    switch (activation->function) {
    case RECURRENT_SIGMOID:
        return sigmoid(z);
    case RECURRENT_TANH:
        return tanhf(z);
    case RECURRENT_RELU:
        return z < 0 ? 0 : z;
    case RECURRENT_HARDSIGMOID:
        return clamp((float)activation->alpha * z + (float)activation->beta, 0, 1);
    }
    return z;
}

static float gate(const struct recurrent *recurrent, unsigned activation, float z)
{
    float clip = (float)recurrent->clip;
    return activate(&recurrent->activations[activation], clamp(z, -clip, clip));
}

static void lstm_cell_f32_scalar(const struct recurrent *recurrent, const float *x,
                                 const float *h_product, const float *peepholes, float *h, float *c)
{
    size_t n = recurrent->hidden_size;
    size_t f_at = recurrent->slots[LSTM_F] * n, i_at = recurrent->slots[LSTM_I] * n;
    size_t c_at = recurrent->slots[LSTM_C] * n, o_at = recurrent->slots[LSTM_O] * n;

    for (size_t j = 0; j < n; j++) {
        float z_f = x[f_at + j] + h_product[f_at + j];
        float z_i = x[i_at + j] + h_product[i_at + j];
        float z_c = x[c_at + j] + h_product[c_at + j];
        float z_o = x[o_at + j] + h_product[o_at + j];
        if (peepholes != NULL) {
            z_f += peepholes[j] * c[j];
            z_i += peepholes[n + j] * c[j];
        }
        float f = gate(recurrent, 0, z_f);
        float i = recurrent->input_forget ? 1.0F - f : gate(recurrent, 0, z_i);
        c[j] = f * c[j] + i * gate(recurrent, 1, z_c);
        if (peepholes != NULL)
            z_o += peepholes[2 * n + j] * c[j];
        h[j] = gate(recurrent, 0, z_o) * activate(&recurrent->activations[2], c[j]);
    }
}

static void rnn_cell_f32_scalar(const struct recurrent *recurrent, const float *x,
                                const float *h_product, float *h)
{
    for (size_t j = 0; j < recurrent->hidden_size; j++)
        h[j] = gate(recurrent, 0, x[j] + h_product[j]);
}

static void gru_reset_f32_scalar(const struct recurrent *recurrent, float *x,
                                 const float *h_product, const float *h, float *reset_h)
{
    size_t n = recurrent->hidden_size;

    for (size_t j = 0; j < n; j++) {
        x[j] = gate(recurrent, 0, x[j] + h_product[j]);
        reset_h[j] = gate(recurrent, 0, x[n + j] + h_product[n + j]) * h[j];
    }
}

static void gru_update_f32_scalar(const struct recurrent *recurrent, const float *x,
                                  const float *h_product, float *h)
{
    size_t n = recurrent->hidden_size;

    for (size_t j = 0; j < n; j++) {
        float z = x[j];
        float candidate = gate(recurrent, 1, x[2 * n + j] + h_product[2 * n + j]);
        h[j] = (1.0F - z) * candidate + z * h[j];
    }
}

static void gru_linear_f32_scalar(const struct recurrent *recurrent, const float *x,
                                  const float *h_product, const float *reset_bias, float *h)
{
    size_t n = recurrent->hidden_size;

    for (size_t j = 0; j < n; j++) {
        float z = gate(recurrent, 0, x[j] + h_product[j]);
        float r = gate(recurrent, 0, x[n + j] + h_product[n + j]);
        float linear = h_product[2 * n + j] + (reset_bias != NULL ? reset_bias[j] : 0.0F);
        float candidate = gate(recurrent, 1, x[2 * n + j] + r * linear);
        h[j] = (1.0F - z) * candidate + z * h[j];
    }
}

const struct recurrent_cells_f32 recurrent_cells_f32_scalar = {
    .lstm = lstm_cell_f32_scalar,
    .rnn = rnn_cell_f32_scalar,
    .gru_reset = gru_reset_f32_scalar,
    .gru_update = gru_update_f32_scalar,
    .gru_linear = gru_linear_f32_scalar,
};
