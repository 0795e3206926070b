/* The recurrent engine's ways beside the fast one: products with weights in place against double,
 * and how much longer a run takes with other rules than the usual, and with weights that are not
 * constants.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"
#include "kernels/recurrent_f32.h"

/* ---- products with weights in place ---- */

enum { MAX_DOT_ROWS = 5, MAX_DOT_COLUMNS = 33, DOT_LD = MAX_DOT_COLUMNS + 2 };

/* Weights and factors end at a page that cannot be touched; c has columns on either side. */
static bool try_dots(const struct trial *trial, size_t m, size_t n, size_t k)
{
    struct guarded weights = guarded_new(n * k * sizeof(float)),
                   factors = guarded_new(m * k * sizeof(float));
    float *w = (float *)(void *)guarded_last(&weights, n * k * sizeof(float));
    float *a = (float *)(void *)guarded_last(&factors, m * k * sizeof(float));
    float before[MAX_DOT_ROWS * DOT_LD], c[MAX_DOT_ROWS * DOT_LD];
    bool is_good = true, is_added = random_below(2) != 0;

    trial_says("dots m=%zu n=%zu k=%zu", m, n, k);
    for (size_t i = 0; i < n * k; i++)
        w[i] = random_float(1);
    for (size_t i = 0; i < m * k; i++)
        a[i] = random_float(1);
    for (size_t i = 0; i < m * DOT_LD; i++)
        c[i] = before[i] = random_float(1);
    trial->variant->packed_gemm->dots(&(struct gemm_f32){.m = m,
                                                         .n = n,
                                                         .k = k,
                                                         .a = a,
                                                         .lda = k,
                                                         .b = w,
                                                         .ldb = k,
                                                         .b_transposed = true,
                                                         .c = c + 1,
                                                         .ldc = DOT_LD,
                                                         .is_added = is_added});
    for (size_t at = 0; is_good && at < m * DOT_LD; at++) {
        size_t row = at / DOT_LD, column = at % DOT_LD - 1; /* of those on either side: >= n */
        double sum = is_added || column >= n ? (double)before[at] : 0, room = 1e-6;
        for (size_t i = 0; column < n && i < k; i++) {
            double term = (double)a[row * k + i] * (double)w[column * k + i];
            sum += term;
            room += 1e-7 * fabs(term);
        }
        if (!(fabs((double)c[at] - sum) <= room))
            is_good =
                trial_fail("row %zu, column %zu is %g, not %g", row, column, (double)c[at], sum);
    }
    guarded_free(&weights);
    guarded_free(&factors);
    return is_good;
}

bool check_dots(const struct trial *trial)
{
    for (size_t k = 0; k < 80; k++)
        if (!try_dots(trial, k % MAX_DOT_ROWS + 1, k % 16 + 1, k))
            return false;
    for (size_t n = 0; n <= MAX_DOT_COLUMNS; n++)
        if (!try_dots(trial, 1 + random_below(MAX_DOT_ROWS), n, 1 + random_below(600)))
            return false;
    return true;
}

/* ---- speed ---- */

/* A run of an LSTM, ready. */
struct lstm {
    struct recurrent_f32 engine;
    struct recurrent_weights weights;
    struct recurrent_f32_tensors tensors;
    void *scratch;
    bool packs_each_run;
};

static void run_lstm(const void *context)
{
    const struct lstm *lstm = context;
    static unsigned n_runs;
    if (lstm->packs_each_run) {
        recurrent_f32_pack_w(&lstm->engine, &lstm->weights, (void *)lstm->engine.w_pack);
        recurrent_f32_pack_r(&lstm->engine, &lstm->weights, (void *)lstm->engine.r_pack);
    }
    recurrent_f32_run(&lstm->engine, &lstm->tensors, lstm->scratch, &n_runs, NULL);
}

static float *random_floats(size_t n, float scale)
{
    float *data = aligned_alloc(64, (n * sizeof *data + 63) / 64 * 64 + 64);
    if (!data)
        abort();
    for (size_t i = 0; i < n; i++)
        data[i] = random_float(scale);
    return data;
}

enum rule { PLAIN, RELU, HARDSIGMOID, CLIP, LENGTHS, PEEPHOLES, RUN_TIME_WEIGHTS, N_RULES };

static const char *const rule_names[] = {"plain",   "relu",      "hardsigmoid",       "clip",
                                         "lengths", "peepholes", "weights of the run"};

static void set_rule(struct recurrent *common, enum rule rule)
{
    common->clip = rule == CLIP ? 0.9 : INFINITY;
    for (int i = 0; i < 3; i++) {
        struct recurrent_activation *activation = &common->activations[i];
        activation->function = i == 0 ? RECURRENT_SIGMOID : RECURRENT_TANH;
        if (rule == RELU && i == 1)
            activation->function = RECURRENT_RELU;
        if (rule == HARDSIGMOID && i == 0)
            *activation = (struct recurrent_activation){RECURRENT_HARDSIGMOID, 0.2, 0.5};
    }
    for (uint8_t i = 0; i < 4; i++)
        common->slots[i] = i;
}

/* Seconds for one run; rows of x below which weights stay in place are those of the op. */
static double time_lstm(const struct gemm_microkernels *kernels, size_t b, size_t t, size_t h,
                        enum rule rule)
{
    size_t lengths[8];
    gemm_f32_fn *gemm = rule == RUN_TIME_WEIGHTS && b * t < 8 ? kernels->dots : NULL;
    struct lstm lstm = {.engine = {.common = {.kind = RECURRENT_LSTM,
                                              .batch = b,
                                              .n_steps = t,
                                              .input_size = h,
                                              .hidden_size = h,
                                              .n_directions = 1},
                                   .kernels = kernels,
                                   .n_threads = 1,
                                   .has_peepholes = rule == PEEPHOLES,
                                   .project = gemm,
                                   .step = gemm},
                        .packs_each_run = rule == RUN_TIME_WEIGHTS};
    float scale = 1 / sqrtf((float)h);
    float *w = random_floats(4 * h * h, scale), *r = random_floats(4 * h * h, scale);
    float *small = random_floats(4 * h, 1), *x = random_floats(b * t * h, 1);
    float *state = random_floats(b * h, 1), *y = random_floats((t + 2) * b * h, 1);

    set_rule(&lstm.engine.common, rule);
    for (size_t i = 0; i < b; i++)
        lengths[i] = t - (i % 2 == 0 ? 0 : t / 2);
    if (!recurrent_f32_lay_out(&lstm.engine))
        abort();
    lstm.weights = (struct recurrent_weights){.w = w, .r = r, .b = small};
    lstm.weights.p = rule == PEEPHOLES ? small : NULL;
    lstm.tensors = (struct recurrent_f32_tensors){.x = x,
                                                  .h0 = state,
                                                  .c0 = state,
                                                  .lengths = rule == LENGTHS ? lengths : NULL,
                                                  .w = w,
                                                  .r = r,
                                                  .y = y,
                                                  .ho = y + t * b * h,
                                                  .co = y + (t + 1) * b * h};
    lstm.scratch = random_floats(lstm.engine.scratch_bytes / sizeof(float), 1);
    void *w_pack = random_floats(lstm.engine.w_pack_bytes / sizeof(float), 1);
    void *r_pack = random_floats(lstm.engine.r_pack_bytes / sizeof(float), 1);
    recurrent_f32_pack_w(&lstm.engine, &lstm.weights, w_pack);
    recurrent_f32_pack_r(&lstm.engine, &lstm.weights, r_pack);
    lstm.engine.w_pack = w_pack;
    lstm.engine.r_pack = r_pack;
    double seconds = measure_s(run_lstm, &lstm);
    void *const all[] = {w, r, small, x, state, y, lstm.scratch, w_pack, r_pack};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    return seconds;
}

/* The other rules and weights are to cost no more than twice the time. */
void measure_recurrent(const struct trial *trial)
{
    static const size_t shapes[][3] = {
        {1, 1, 128}, {1, 1, 512}, {1, 100, 256}, {2, 4, 256}, {8, 20, 256}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        double plain = 0;
        for (int rule = PLAIN; rule < N_RULES; rule++) {
            double seconds = time_lstm(trial->variant->packed_gemm, shapes[i][0], shapes[i][1],
                                       shapes[i][2], (enum rule)rule);
            plain = rule == PLAIN ? seconds : plain;
            printf("# LSTM B %zu, T %3zu, I = H = %zu, %-20s %9.2f us  %5.2f x plain\n",
                   shapes[i][0], shapes[i][1], shapes[i][2], rule_names[rule], seconds * 1e6,
                   seconds / plain);
            fflush(stdout);
        }
    }
}
