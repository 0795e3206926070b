/* Random problems for the recurrent engine, and their solution in double by the formulas of the
 * specification.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_RECURRENT_PROBLEM_H
#define IRRUN_TESTS_RECURRENT_PROBLEM_H

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recurrent_engine.h"

static uint32_t random_state;

/* Returns a number in (-1, 1). */
static inline double next_random(void)
{
    random_state = random_state * 1664525U + 1013904223U;
    return (double)(random_state >> 8) / (1 << 23) - 1;
}

static inline size_t next_below(size_t n)
{
    random_state = random_state * 1664525U + 1013904223U;
    return (random_state >> 8) % n;
}

/* ---- problems ----------------------------------------------------------------------------- */

enum part { X, H0, C0, W, R, B, P, Y, HO, CO, N_PARTS };

/* The f32 arrays have the same values as the f64 ones, which f32 can represent. */
struct problem {
    struct recurrent common;
    size_t *lengths;
    size_t n[N_PARTS];
    double *f64[N_PARTS];
    float *f32[N_PARTS];
    bool has_b, has_p;
};

static inline void *allocate(size_t n, size_t item_bytes)
{
    void *memory = calloc(n + 1, item_bytes);
    assert_non_null(memory);
    return memory;
}

static inline void count_parts(struct problem *problem)
{
    const struct recurrent *c = &problem->common;
    size_t sequences = c->batch * c->n_directions, h = c->hidden_size;
    size_t rows = c->n_directions * recurrent_n_gates(c) * h;

    problem->n[X] = c->batch * c->n_steps * c->input_size;
    problem->n[H0] = problem->n[C0] = problem->n[HO] = problem->n[CO] = sequences * h;
    problem->n[W] = rows * c->input_size;
    problem->n[R] = rows * h;
    problem->n[B] = c->n_directions * recurrent_n_biases(c) * h;
    problem->n[P] = c->n_directions * 3 * h;
    problem->n[Y] = sequences * c->n_steps * h;
}

static inline void put(struct problem *problem, enum part part, size_t i, double value)
{
    problem->f32[part][i] = (float)value;
    problem->f64[part][i] = (double)problem->f32[part][i];
}

static inline void spoil_padding(struct problem *problem)
{
    const struct recurrent *c = &problem->common;
    for (size_t b = 0; b < c->batch; b++)
        for (size_t i = problem->lengths[b] * c->input_size; i < c->n_steps * c->input_size; i++)
            put(problem, X, b * c->n_steps * c->input_size + i, (double)NAN);
}

static inline void problem_fill(struct problem *problem)
{
    const struct recurrent *c = &problem->common;
    double scale = 1 / sqrt((double)(c->input_size + c->hidden_size));

    count_parts(problem);
    problem->lengths = allocate(c->batch, sizeof *problem->lengths);
    for (int part = 0; part < N_PARTS; part++) {
        problem->f64[part] = allocate(problem->n[part], sizeof(double));
        problem->f32[part] = allocate(problem->n[part], sizeof(float));
        double factor = part == W || part == R ? scale : 1;
        for (size_t i = 0; i < problem->n[part]; i++)
            put(problem, (enum part)part, i, next_random() * factor);
    }
    for (size_t b = 0; b < c->batch; b++)
        problem->lengths[b] = b == 0 ? c->n_steps : next_below(c->n_steps + 1);
    spoil_padding(problem);
}

static inline void problem_free(struct problem *problem)
{
    free(problem->lengths);
    for (int part = 0; part < N_PARTS; part++) {
        free(problem->f64[part]);
        free(problem->f32[part]);
    }
}

static inline void choose_attributes(struct problem *problem, bool are_plain)
{
    static const uint8_t orders[][4] = {{0, 1, 2, 3}, {3, 0, 1, 2}, {1, 0, 3, 2}, {2, 0, 3, 1}};
    struct recurrent *c = &problem->common;

    c->clip = are_plain || next_below(2) ? INFINITY : 0.75;
    c->linear_before_reset = c->kind == RECURRENT_GRU && next_below(2);
    c->input_forget = !are_plain && c->kind == RECURRENT_LSTM && next_below(3) == 0;
    memcpy(c->slots, orders[are_plain ? 0 : next_below(4)], sizeof c->slots);
    for (int k = 0; k < 3; k++) {
        bool is_gate = c->kind != RECURRENT_RNN && k == 0;
        c->activations[k].function = is_gate ? RECURRENT_SIGMOID : RECURRENT_TANH;
        if (!are_plain)
            c->activations[k].function = (enum recurrent_function)next_below(4);
        c->activations[k].alpha = 0.125 + 0.25 * k;
        c->activations[k].beta = 0.25 * k;
    }
    problem->has_b = next_below(4) != 0;
    problem->has_p = !are_plain && c->kind == RECURRENT_LSTM && next_below(2);
}

/* Arguments must not call next_random or next_below, because C does not define the order in which
 * arguments are evaluated. */
static inline struct problem problem_new(enum recurrent_kind kind, size_t batch, size_t n_steps,
                                         size_t input_size, size_t hidden_size, bool are_plain)
{
    struct problem problem = {.common = {.kind = kind,
                                         .batch = batch,
                                         .n_steps = n_steps,
                                         .input_size = input_size,
                                         .hidden_size = hidden_size}};
    problem.common.n_directions = 1 + next_below(2);
    problem.common.is_reverse = problem.common.n_directions == 1 && next_below(2);
    choose_attributes(&problem, are_plain);
    problem_fill(&problem);
    return problem;
}

/* ---- the formulas ----------------------------------------------------------------------- */

static inline double apply(const struct recurrent *c, int k, double z)
{
    const struct recurrent_activation *f = &c->activations[k];
    if (f->function == RECURRENT_SIGMOID)
        return 1 / (1 + exp(-z));
    if (f->function == RECURRENT_TANH)
        return tanh(z);
    if (f->function == RECURRENT_RELU)
        return fmax(z, 0);
    return fmin(fmax(f->alpha * z + f->beta, 0), 1);
}

static inline double gate(const struct recurrent *c, int k, double z)
{
    return apply(c, k, fmin(fmax(z, -c->clip), c->clip));
}

static inline double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Computes one step of direction d for one batch element: x [I], h and c [H]. */
static inline void reference_step(const struct problem *problem, size_t d, const double *x,
                                  double *h, double *cell)
{
    const struct recurrent *c = &problem->common;
    size_t n = c->hidden_size, n_gates = recurrent_n_gates(c);
    const double *w = problem->f64[W] + d * n_gates * n * c->input_size;
    const double *r = problem->f64[R] + d * n_gates * n * n;
    const double *b = problem->has_b ? problem->f64[B] + d * recurrent_n_biases(c) * n : NULL;
    const double *p = problem->has_p ? problem->f64[P] + d * 3 * n : NULL;
    double *wx = allocate(4 * n, sizeof *wx), *rh = allocate(4 * n, sizeof *rh);
    double *old = allocate(n, sizeof *old), *reset = allocate(n, sizeof *reset);

    memcpy(old, h, n * sizeof *old);
    for (size_t i = 0; i < n_gates * n; i++) {
        wx[i] = dot(w + i * c->input_size, x, c->input_size) + (b != NULL ? b[i] : 0);
        rh[i] = dot(r + i * n, old, n);
    }
    for (size_t j = 0; j < n && c->kind == RECURRENT_GRU; j++)
        reset[j] = gate(c, 0, wx[n + j] + rh[n + j]) * old[j];
    for (size_t j = 0; j < n; j++) {
        if (c->kind == RECURRENT_RNN) {
            h[j] = gate(c, 0, wx[j] + rh[j]);
        } else if (c->kind == RECURRENT_GRU) {
            double z = gate(c, 0, wx[j] + rh[j]), inner = dot(r + (2 * n + j) * n, reset, n);
            if (c->linear_before_reset)
                inner = gate(c, 0, wx[n + j] + rh[n + j]) *
                        (rh[2 * n + j] + (b != NULL ? b[3 * n + j] : 0));
            h[j] = (1 - z) * gate(c, 1, wx[2 * n + j] + inner) + z * old[j];
        } else {
            size_t at[4];
            for (int g = 0; g < 4; g++)
                at[g] = c->slots[g] * n + j;
            double peep_f = p != NULL ? p[j] * cell[j] : 0;
            double peep_i = p != NULL ? p[n + j] * cell[j] : 0;
            double f = gate(c, 0, wx[at[0]] + rh[at[0]] + peep_f);
            double i = c->input_forget ? 1 - f : gate(c, 0, wx[at[1]] + rh[at[1]] + peep_i);
            cell[j] = f * cell[j] + i * gate(c, 1, wx[at[2]] + rh[at[2]]);
            double peep_o = p != NULL ? p[2 * n + j] * cell[j] : 0;
            h[j] = gate(c, 0, wx[at[3]] + rh[at[3]] + peep_o) * apply(c, 2, cell[j]);
        }
    }
    free(wx);
    free(rh);
    free(old);
    free(reset);
}

/* Writes the results to f64[Y], f64[HO] and f64[CO]. */
static inline void solve(struct problem *problem)
{
    const struct recurrent *c = &problem->common;
    size_t n = c->hidden_size;

    memset(problem->f64[Y], 0, problem->n[Y] * sizeof(double));
    memset(problem->f64[HO], 0, problem->n[HO] * sizeof(double));
    memset(problem->f64[CO], 0, problem->n[CO] * sizeof(double));
    for (size_t row = 0; row < c->batch * c->n_directions; row++) {
        size_t b = row / c->n_directions, d = row % c->n_directions, length = problem->lengths[b];
        double *h = problem->f64[HO] + row * n, *cell = problem->f64[CO] + row * n;
        if (length == 0)
            continue;
        memcpy(h, problem->f64[H0] + row * n, n * sizeof *h);
        memcpy(cell, problem->f64[C0] + row * n, n * sizeof *cell);
        for (size_t s = 0; s < length; s++) {
            size_t t = d == 1 || c->is_reverse ? length - 1 - s : s;
            reference_step(problem, d, problem->f64[X] + (b * c->n_steps + t) * c->input_size, h,
                           cell);
            memcpy(problem->f64[Y] + (row * c->n_steps + t) * n, h, n * sizeof *h);
        }
    }
}

/* ---- the engines -------------------------------------------------------------------------- */

static inline void poison(float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
}

static inline struct recurrent_f32_tensors tensors_of(const struct problem *problem)
{
    bool is_lstm = problem->common.kind == RECURRENT_LSTM;
    return (struct recurrent_f32_tensors){
        .x = problem->f32[X],
        .h0 = problem->f32[H0],
        .c0 = is_lstm ? problem->f32[C0] : NULL,
        .lengths = problem->lengths,
        .w = problem->f32[W],
        .r = problem->f32[R],
        .y = problem->f32[Y],
        .ho = problem->f32[HO],
        .co = is_lstm ? problem->f32[CO] : NULL,
    };
}

/* Returns an engine for the problem, with packed weights: those in f16, or those of the problem if
 * f16 is NULL. */
static inline struct recurrent_f32 pack(const struct problem *problem, struct recurrent_f32 engine,
                                        uint16_t *const f16[2])
{
    engine.common = problem->common;
    engine.has_peepholes = problem->has_p;
    engine.w_type = engine.r_type = f16 != NULL ? WEIGHTS_F16 : WEIGHTS_F32;
    engine_pack(&engine, &(struct recurrent_weights){
                             .w = f16 ? (const void *)f16[0] : problem->f32[W],
                             .r = f16 ? (const void *)f16[1] : problem->f32[R],
                             .b = problem->has_b ? problem->f32[B] : NULL,
                             .p = problem->has_p ? problem->f32[P] : NULL,
                         });
    return engine;
}

/* Writes the results to f32[Y], f32[HO] and f32[CO]. */
static inline void run_packed(struct problem *problem, const struct recurrent_f32 *engine,
                              unsigned n_runs, struct thread_pool *pool)
{
    struct recurrent_f32_tensors tensors = tensors_of(problem);
    for (int part = Y; part <= CO; part++)
        poison(problem->f32[part], problem->n[part] + 1);
    engine_run(engine, &tensors, n_runs, pool);
    for (int part = Y; part <= CO; part++)
        assert_true(isnan(problem->f32[part][problem->n[part]]));
}

/* Runs the f32 engine. gemm: NULL for packed weights. */
static inline void run_f32(struct problem *problem, enum simd simd, gemm_f32_fn *gemm)
{
    struct recurrent_f32 engine = pack(problem, engine_of(&problem->common, simd, gemm), NULL);
    run_packed(problem, &engine, 0, NULL);
    engine_free(&engine);
}

static inline double difference_f32(const struct problem *problem)
{
    double largest = 0;
    for (int part = Y; part <= (problem->common.kind == RECURRENT_LSTM ? CO : HO); part++) {
        for (size_t i = 0; i < problem->n[part]; i++) {
            double expected = problem->f64[part][i];
            double difference = fabs((double)problem->f32[part][i] - expected);
            difference /= fmax(1, fabs(expected));
            largest = difference <= largest ? largest : difference; /* NaN wins */
        }
    }
    return largest;
}

static inline double difference_f64(struct problem *problem)
{
    bool is_lstm = problem->common.kind == RECURRENT_LSTM;
    double largest = 0, *results[3];
    for (int part = Y; part <= CO; part++)
        results[part - Y] = allocate(problem->n[part], sizeof(double));
    void *scratch = malloc(recurrent_f64_scratch_bytes(&problem->common));
    assert_non_null(scratch);
    recurrent_f64_run(&problem->common,
                      &(struct recurrent_f64_tensors){
                          .x = problem->f64[X],
                          .h0 = problem->f64[H0],
                          .c0 = is_lstm ? problem->f64[C0] : NULL,
                          .lengths = problem->lengths,
                          .w = problem->f64[W],
                          .r = problem->f64[R],
                          .b = problem->has_b ? problem->f64[B] : NULL,
                          .p = problem->has_p ? problem->f64[P] : NULL,
                          .y = results[0],
                          .ho = results[1],
                          .co = is_lstm ? results[2] : NULL,
                      },
                      scratch);
    for (int part = Y; part <= (is_lstm ? CO : HO); part++) {
        for (size_t i = 0; i < problem->n[part]; i++) {
            double expected = problem->f64[part][i];
            double difference = fabs(results[part - Y][i] - expected) / fmax(1, fabs(expected));
            largest = difference <= largest ? largest : difference;
        }
    }
    free(scratch);
    for (int k = 0; k < 3; k++)
        free(results[k]);
    return largest;
}

static inline void assert_small(const struct problem *problem, const char *engine,
                                double difference, double limit)
{
    const struct recurrent *c = &problem->common;
    if (!(difference <= limit))
        fail_test("%s: kind %d, B %zu, T %zu, I %zu, H %zu, D %zu: %g from the formulas\n", engine,
                  (int)c->kind, c->batch, c->n_steps, c->input_size, c->hidden_size,
                  c->n_directions, difference);
}

#endif
