/* LSTM, GRU and RNN in f64 with plain loops, one batch element at a time: the reference for
 * recurrent_f32.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "kernels/recurrent.h"

/* Arguments to run one direction of one batch element; x and h_product are [G*H]. */
struct sequence {
    const struct recurrent *recurrent;
    const double *w, *r, *b, *p; /* weights of this direction; b and p may be NULL: zeros */
    double *x, *h_product, *reset_h, *h, *c;
};

static double clamp(double z, double low, double high)
{
    return z < low ? low : z > high ? high : z;
}

static double activate(const struct recurrent_activation *activation, double z)
{
    switch (activation->function) {
    case RECURRENT_SIGMOID:
        return z >= 0 ? 1.0 / (1.0 + exp(-z)) : exp(z) / (1.0 + exp(z));
    case RECURRENT_TANH:
        return tanh(z);
    case RECURRENT_RELU:
        return z < 0 ? 0 : z;
    case RECURRENT_HARDSIGMOID:
        return clamp(activation->alpha * z + activation->beta, 0, 1);
    }
    return z;
}

static double gate(const struct recurrent *recurrent, unsigned activation, double z)
{
    double clip = recurrent->clip;
    return activate(&recurrent->activations[activation], clamp(z, -clip, clip));
}

/* Computes out[n] = m[n][k] * v[k]. */
static void multiply(const double *m, const double *v, size_t n, size_t k, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += m[i * k + j] * v[j];
        out[i] = sum;
    }
}

static void run_lstm_step(const struct sequence *s)
{
    const struct recurrent *recurrent = s->recurrent;
    const uint8_t *slots = recurrent->slots;
    size_t n = recurrent->hidden_size;

    multiply(s->r, s->h, 4 * n, n, s->h_product);
    for (size_t j = 0; j < 4 * n; j++)
        s->x[j] += s->h_product[j];
    for (size_t j = 0; j < n; j++) {
        double z_f = s->x[slots[LSTM_F] * n + j], z_i = s->x[slots[LSTM_I] * n + j];
        double z_c = s->x[slots[LSTM_C] * n + j], z_o = s->x[slots[LSTM_O] * n + j];
        if (s->p != NULL) {
            z_f += s->p[j] * s->c[j];
            z_i += s->p[n + j] * s->c[j];
        }
        double f = gate(recurrent, 0, z_f);
        double i = recurrent->input_forget ? 1.0 - f : gate(recurrent, 0, z_i);
        s->c[j] = f * s->c[j] + i * gate(recurrent, 1, z_c);
        if (s->p != NULL)
            z_o += s->p[2 * n + j] * s->c[j];
        s->h[j] = gate(recurrent, 0, z_o) * activate(&recurrent->activations[2], s->c[j]);
    }
}

static void run_gru_step(const struct sequence *s)
{
    const struct recurrent *recurrent = s->recurrent;
    bool is_linear = recurrent->linear_before_reset;
    size_t n = recurrent->hidden_size;
    double *z = s->x, *r = s->x + n, *candidate = s->x + 2 * n;

    multiply(s->r, s->h, 2 * n, n, s->h_product);
    for (size_t j = 0; j < 2 * n; j++)
        s->x[j] = gate(recurrent, 0, s->x[j] + s->h_product[j]);
    for (size_t j = 0; j < n; j++)
        s->reset_h[j] = is_linear ? s->h[j] : r[j] * s->h[j];
    multiply(s->r + 2 * n * n, s->reset_h, n, n, s->h_product + 2 * n);
    for (size_t j = 0; j < n; j++) {
        double linear = s->h_product[2 * n + j];
        if (is_linear)
            linear = r[j] * (linear + (s->b != NULL ? s->b[3 * n + j] : 0));
        s->h[j] = (1.0 - z[j]) * gate(recurrent, 1, candidate[j] + linear) + z[j] * s->h[j];
    }
}

static void run_rnn_step(const struct sequence *s)
{
    size_t n = s->recurrent->hidden_size;

    multiply(s->r, s->h, n, n, s->h_product);
    for (size_t j = 0; j < n; j++)
        s->h[j] = gate(s->recurrent, 0, s->x[j] + s->h_product[j]);
}

static void run_step(const struct sequence *s, const double *x)
{
    const struct recurrent *recurrent = s->recurrent;
    size_t n_rows = recurrent_n_gates(recurrent) * recurrent->hidden_size;

    multiply(s->w, x, n_rows, recurrent->input_size, s->x);
    for (size_t j = 0; s->b != NULL && j < n_rows; j++)
        s->x[j] += s->b[j];
    if (recurrent->kind == RECURRENT_LSTM)
        run_lstm_step(s);
    else if (recurrent->kind == RECURRENT_GRU)
        run_gru_step(s);
    else
        run_rnn_step(s);
}

static void run_sequence(const struct sequence *s, const struct recurrent_f64_tensors *tensors,
                         size_t element, size_t direction)
{
    const struct recurrent *recurrent = s->recurrent;
    size_t n = recurrent->hidden_size, n_steps = recurrent->n_steps;
    size_t row = element * recurrent->n_directions + direction, row_bytes = n * sizeof(double);
    size_t length = tensors->lengths != NULL ? tensors->lengths[element] : n_steps;
    bool is_reverse = recurrent->is_reverse || direction == 1;
    bool is_lstm = recurrent->kind == RECURRENT_LSTM;

    memcpy(s->h, tensors->h0 + row * n, row_bytes);
    if (is_lstm)
        memcpy(s->c, tensors->c0 + row * n, row_bytes);
    if (tensors->y != NULL)
        memset(tensors->y + row * n_steps * n, 0, n_steps * row_bytes);
    for (size_t step = 0; step < length; step++) {
        size_t t = is_reverse ? length - 1 - step : step;
        run_step(s, tensors->x + (element * n_steps + t) * recurrent->input_size);
        if (tensors->y != NULL)
            memcpy(tensors->y + (row * n_steps + t) * n, s->h, row_bytes);
    }
    if (length == 0) {
        memset(s->h, 0, row_bytes);
        memset(s->c, 0, row_bytes);
    }
    if (tensors->ho != NULL)
        memcpy(tensors->ho + row * n, s->h, row_bytes);
    if (is_lstm && tensors->co != NULL)
        memcpy(tensors->co + row * n, s->c, row_bytes);
}

size_t recurrent_f64_scratch_bytes(const struct recurrent *recurrent)
{
    /* R [G*H][H] exists in memory, so the product cannot overflow. */
    return (2 * recurrent_n_gates(recurrent) + 3) * recurrent->hidden_size * sizeof(double);
}

void recurrent_f64_run(const struct recurrent *recurrent,
                       const struct recurrent_f64_tensors *tensors, void *scratch)
{
    size_t n = recurrent->hidden_size, n_rows = recurrent_n_gates(recurrent) * n;
    size_t n_biases = recurrent_n_biases(recurrent) * n;
    double *base = scratch;

    for (size_t d = 0; d < recurrent->n_directions; d++) {
        struct sequence sequence = {
            .recurrent = recurrent,
            .w = tensors->w + d * n_rows * recurrent->input_size,
            .r = tensors->r + d * n_rows * n,
            .b = tensors->b != NULL ? tensors->b + d * n_biases : NULL,
            .p = tensors->p != NULL ? tensors->p + d * 3 * n : NULL,
            .x = base,
            .h_product = base + n_rows,
            .reset_h = base + 2 * n_rows,
            .h = base + 2 * n_rows + n,
            .c = base + 2 * n_rows + 2 * n,
        };
        for (size_t b = 0; b < recurrent->batch; b++)
            run_sequence(&sequence, tensors, b, d);
    }
}
