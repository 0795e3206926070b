/* The functions of recurrent_cells.h, for vectors of any length. recurrent_f64.c has the same
 * formulas in scalar code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/recurrent_cells.h"

#ifndef VECTOR_LANES
#error "include kernels/level.h first"
#endif

static vec activate(const struct recurrent_activation *activation, vec x)
{
    switch (activation->function) {
    case RECURRENT_SIGMOID:
        return vec_sigmoid(x);
    case RECURRENT_TANH:
        return vec_tanh(x);
    case RECURRENT_RELU:
        return vec_max(vec_zero(), x);
    case RECURRENT_HARDSIGMOID:
        return vec_max_min(vec_add(vec_mul(vec_set1((float)activation->alpha), x),
                                   vec_set1((float)activation->beta)),
                           vec_zero(), vec_set1(1.0F));
    }
    return x;
}

static vec gate(const struct recurrent *rules, unsigned activation, vec x)
{
    vec clip = vec_set1((float)rules->clip);
    return activate(&rules->activations[activation],
                    vec_max_min(x, vec_sub(vec_zero(), clip), clip));
}

static void lstm(const struct recurrent *rules, const struct recurrent_row *row)
{
    (void)rules;
    size_t units = row->units;
    for (size_t j = 0; j < units; j += VECTOR_LANES) {
        vec f = vec_load(row->gates + j), i = vec_load(row->gates + units + j);
        vec g = vec_load(row->gates + 2 * units + j);
        vec o = vec_load(row->gates + 3 * units + j);
        vec c = vec_fma(vec_sigmoid(f), vec_load(row->c + j), vec_sigmoid_times_tanh(i, g));
        vec_store(row->c + j, c);
        vec_store(row->h_next + j, vec_sigmoid_times_tanh(o, c));
    }
}

static void lstm_any(const struct recurrent *rules, const struct recurrent_row *row)
{
    const float *p = row->peepholes;
    size_t units = row->units;
    for (size_t j = 0; j < units; j += VECTOR_LANES) {
        vec c = vec_load(row->c + j);
        vec f = vec_load(row->gates + j), i = vec_load(row->gates + units + j);
        vec o = vec_load(row->gates + 3 * units + j);
        if (p != NULL) {
            f = vec_fma(vec_load(p + j), c, f);
            i = vec_fma(vec_load(p + units + j), c, i);
        }
        f = gate(rules, 0, f);
        i = rules->input_forget ? vec_sub(vec_set1(1.0F), f) : gate(rules, 0, i);
        c = vec_fma(f, c, vec_mul(i, gate(rules, 1, vec_load(row->gates + 2 * units + j))));
        if (p != NULL)
            o = vec_fma(vec_load(p + 2 * units + j), c, o);
        vec_store(row->c + j, c);
        vec_store(row->h_next + j, vec_mul(gate(rules, 0, o), activate(&rules->activations[2], c)));
    }
}

/* Returns (1 - z) * n + z * h. */
ALWAYS_INLINE vec blend_state(vec z, vec n, vec h)
{
    return vec_fma(z, h, vec_mul(vec_sub(vec_set1(1.0F), z), n));
}

static void gru_linear(const struct recurrent *rules, const struct recurrent_row *row)
{
    (void)rules;
    size_t units = row->units;
    for (size_t j = 0; j < units; j += VECTOR_LANES) {
        const float *x = row->x_gates + j, *h = row->gates + j;
        vec z = vec_sigmoid(vec_add(vec_load(x), vec_load(h)));
        vec r = vec_sigmoid(vec_add(vec_load(x + units), vec_load(h + units)));
        vec n = vec_tanh(vec_fma(r, vec_load(h + 2 * units), vec_load(x + 2 * units)));
        vec_store(row->h_next + j, blend_state(z, n, vec_load(row->h + j)));
    }
}

static void gru_linear_any(const struct recurrent *rules, const struct recurrent_row *row)
{
    size_t units = row->units;
    for (size_t j = 0; j < units; j += VECTOR_LANES) {
        const float *x = row->x_gates + j, *h = row->gates + j;
        vec z = gate(rules, 0, vec_add(vec_load(x), vec_load(h)));
        vec r = gate(rules, 0, vec_add(vec_load(x + units), vec_load(h + units)));
        vec n = gate(rules, 1, vec_fma(r, vec_load(h + 2 * units), vec_load(x + 2 * units)));
        vec_store(row->h_next + j, blend_state(z, n, vec_load(row->h + j)));
    }
}

static void gru_reset_any(const struct recurrent *rules, const struct recurrent_row *row)
{
    float *z = row->c;
    size_t units = row->units;
    for (size_t j = 0; j < units; j += VECTOR_LANES) {
        vec r = gate(rules, 0, vec_load(row->gates + units + j));
        vec_store(z + j, gate(rules, 0, vec_load(row->gates + j)));
        vec_store(row->h_next + j, vec_mul(r, vec_load(row->h + j)));
    }
}

static void gru_update_any(const struct recurrent *rules, const struct recurrent_row *row)
{
    const float *z = row->c;
    size_t units = row->units;
    for (size_t j = 0; j < units; j += VECTOR_LANES) {
        vec n = gate(rules, 1, vec_load(row->gates + j));
        vec_store(row->h_next + j, blend_state(vec_load(z + j), n, vec_load(row->h + j)));
    }
}

static void rnn(const struct recurrent *rules, const struct recurrent_row *row)
{
    (void)rules;
    size_t units = row->units;
    for (size_t j = 0; j < units; j += VECTOR_LANES)
        vec_store(row->h_next + j, vec_tanh(vec_load(row->gates + j)));
}

static void rnn_any(const struct recurrent *rules, const struct recurrent_row *row)
{
    size_t units = row->units;
    for (size_t j = 0; j < units; j += VECTOR_LANES)
        vec_store(row->h_next + j, gate(rules, 0, vec_load(row->gates + j)));
}

#define RECURRENT_CELLS                                                                            \
    {                                                                                              \
        .lstm = lstm, .gru_linear = gru_linear, .rnn = rnn, .lstm_any = lstm_any,                  \
        .gru_linear_any = gru_linear_any, .rnn_any = rnn_any, .gru_reset_any = gru_reset_any,      \
        .gru_update_any = gru_update_any,                                                          \
    }
