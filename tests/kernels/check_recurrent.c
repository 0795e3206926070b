/* Times runs of the recurrent engine with attributes other than the defaults, and with weights that
 * are not constants.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"
#include "kernels/recurrent_f32.h"

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

/* Returns the seconds of a run. Weights that are not constants are packed from 8 rows of x on, as
 * the op does. */
static double time_lstm(const struct kernels *kernels, size_t b, size_t t, size_t h, enum rule rule)
{
    size_t lengths[8];
    gemm_f32_fn *gemm = rule == RUN_TIME_WEIGHTS && b * t < 8 ? kernels->gemm_rows : NULL;
    struct lstm lstm = {.engine = {.common = {.kind = RECURRENT_LSTM,
                                              .batch = b,
                                              .n_steps = t,
                                              .input_size = h,
                                              .hidden_size = h,
                                              .n_directions = 1},
                                   .kernels = kernels->packed_gemm,
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

/* Other rules and weights should take at most twice the time. */
void measure_recurrent(const struct trial *trial)
{
    static const size_t shapes[][3] = {
        {1, 1, 128}, {1, 1, 512}, {1, 100, 256}, {2, 4, 256}, {8, 20, 256}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        double plain = 0;
        for (int rule = PLAIN; rule < N_RULES; rule++) {
            double seconds = time_lstm(trial->variant, shapes[i][0], shapes[i][1], shapes[i][2],
                                       (enum rule)rule);
            plain = rule == PLAIN ? seconds : plain;
            printf("# LSTM B %zu, T %3zu, I = H = %zu, %-20s %9.2f us  %5.2f x plain\n",
                   shapes[i][0], shapes[i][1], shapes[i][2], rule_names[rule], seconds * 1e6,
                   seconds / plain);
            fflush(stdout);
        }
    }
}
