/* Checks the recurrent cells against the formulas in double, also with special values, and that
 * they write no other memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "check_kernels.h"

#define POISON (-12345.0F)

static const float special[] = {
    0.0F,    -0.0F,  1e-45F,  -1e-45F,  FLT_MIN,  1e-20F,    -1e-20F, 1e-7F,  -1e-7F,
    1e-3F,   -1e-3F, 0.17F,   0.18F,    -0.35F,   1.0F,      -1.0F,   8.5F,   9.01F,
    -9.1F,   20.0F,  -20.0F,  44.0F,    87.0F,    -87.5F,    88.0F,   -88.8F, 104.0F,
    -104.0F, 1e4F,   FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN,
};
enum { N_SPECIAL = sizeof special / sizeof special[0], MAX_UNITS = 64 };

static float next_value(void)
{
    if (random_below(3) == 0)
        return special[random_below(N_SPECIAL)];
    return random_float(random_below(2) ? 12.0F : 1.0F);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* The memory of a cell of at most 64 units, with one more element that must not change. */
struct cell_memory {
    float gates[4 * MAX_UNITS], x_gates[4 * MAX_UNITS], peepholes[3 * MAX_UNITS];
    float h[MAX_UNITS + 1], h_next[MAX_UNITS + 1], c[MAX_UNITS + 1], old_c[MAX_UNITS];
};

static void run_cell(recurrent_cell_fn *cell, const struct recurrent *rules,
                     struct cell_memory *memory, size_t units)
{
    memcpy(memory->old_c, memory->c, sizeof memory->old_c);
    memory->h_next[units] = memory->c[units] = POISON;
    cell(rules, &(struct recurrent_row){.units = units,
                                        .gates = memory->gates,
                                        .x_gates = memory->x_gates,
                                        .peepholes = memory->peepholes,
                                        .h = memory->h,
                                        .h_next = memory->h_next,
                                        .c = memory->c});
}

static void fill_cell(struct cell_memory *memory, bool is_state_moderate)
{
    for (size_t j = 0; j < 4 * MAX_UNITS; j++) {
        memory->gates[j] = next_value();
        memory->x_gates[j] = random_float(2.0F);
    }
    for (size_t j = 0; j < 3 * MAX_UNITS; j++)
        memory->peepholes[j] = random_float(0.5F);
    for (size_t j = 0; j < MAX_UNITS; j++) {
        memory->h[j] = random_float(1.0F);
        memory->c[j] = is_state_moderate ? random_float(2.0F) : next_value();
    }
}

/* Returns whether the error is at most `ulps` units in the last place, or `absolute`. */
static bool is_near(float got, double expected, double ulps, double absolute)
{
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? isnan(got) : (double)got == expected;
    double difference = fabs((double)got - expected);
    return difference <= absolute || difference <= ulps * fabs(expected) * (double)FLT_EPSILON;
}

static bool compare_unit(const char *what, size_t j, float got, double expected, double ulps,
                         double absolute)
{
    return is_near(got, expected, ulps, absolute) ||
           trial_fail("%s of unit %zu: %.9g, expected %.9g", what, j, (double)got, expected);
}

/* rnn is tanh itself; lstm with c = 0 is sigmoid * tanh. */
static bool check_functions(const struct recurrent_cells *cells, const struct recurrent *rules)
{
    static struct cell_memory memory;
    fill_cell(&memory, true);
    trial_says("rnn");
    run_cell(cells->rnn, rules, &memory, 64);
    for (size_t j = 0; j < 64; j++) {
        if (!compare_unit("tanh", j, memory.h_next[j], tanh((double)memory.gates[j]), 4, 1e-9))
            return false;
        if (memory.gates[j] == 0 && signbit(memory.gates[j]) != signbit(memory.h_next[j]))
            return trial_fail("tanh of a zero lost its sign");
    }
    trial_says("lstm from c = 0");
    fill_cell(&memory, true);
    memset(memory.c, 0, sizeof memory.c);
    for (size_t j = 0; j < 16; j++)
        memory.gates[j] = 0; /* f */
    run_cell(cells->lstm, rules, &memory, 16);
    for (size_t j = 0; j < 16; j++) {
        double expected =
            sigmoid((double)memory.gates[16 + j]) * tanh((double)memory.gates[32 + j]);
        if (!compare_unit("c", j, memory.c[j], expected, 6, 1e-9))
            return false;
        expected = sigmoid((double)memory.gates[48 + j]) * tanh((double)memory.c[j]);
        if (!compare_unit("h", j, memory.h_next[j], expected, 6, 1e-9))
            return false;
    }
    return memory.c[16] == POISON && memory.h_next[16] == POISON;
}

/* Returns whether x times the error of a sigmoid would exceed the tolerance. */
static bool is_huge(float x)
{
    return isfinite(x) && fabsf(x) > 1e6F;
}

static bool check_lstm(const struct recurrent_cells *cells, const struct recurrent *rules,
                       bool is_any)
{
    static struct cell_memory memory;
    fill_cell(&memory, false);
    if (is_any)
        memset(memory.peepholes, 0, sizeof memory.peepholes);
    trial_says(is_any ? "lstm_any" : "lstm");
    run_cell(is_any ? cells->lstm_any : cells->lstm, rules, &memory, 16);
    for (size_t j = 0; j < 16; j++) {
        if (is_any && !isfinite(memory.old_c[j]))
            continue; /* 0 * inf of the peepholes */
        if (is_huge(memory.old_c[j]))
            continue;
        double c = sigmoid((double)memory.gates[j]) * (double)memory.old_c[j] +
                   sigmoid((double)memory.gates[16 + j]) * tanh((double)memory.gates[32 + j]);
        double size = fabs(c) + 1;
        if (fabs(c) < (double)FLT_MAX && !compare_unit("c", j, memory.c[j], c, 6, 5e-7 * size))
            return false;
        double h = sigmoid((double)memory.gates[48 + j]) * tanh((double)memory.c[j]);
        if (!compare_unit("h", j, memory.h_next[j], h, 6, 1e-9))
            return false;
    }
    return true;
}

static bool check_gru(const struct recurrent_cells *cells, const struct recurrent *rules,
                      bool is_any)
{
    static struct cell_memory memory;
    fill_cell(&memory, true);
    trial_says(is_any ? "gru_linear_any" : "gru_linear");
    run_cell(is_any ? cells->gru_linear_any : cells->gru_linear, rules, &memory, 32);
    for (size_t j = 0; j < 32; j++) {
        const float *x = memory.x_gates + j, *g = memory.gates + j;
        double z = sigmoid((double)x[0] + (double)g[0]), r = sigmoid((double)x[32] + (double)g[32]);
        double n = tanh((double)x[64] + r * (double)g[64]);
        if (is_huge(g[64]) || isinf(g[64]))
            continue;
        double h = (1 - z) * n + z * (double)memory.h[j];
        if (!compare_unit("h", j, memory.h_next[j], h, 0,
                          1e-6 + 2e-7 * fmin(fabs((double)g[64]), 8)))
            return false;
    }
    return true;
}

static bool check_two_step_gru(const struct recurrent_cells *cells, const struct recurrent *rules)
{
    static struct cell_memory memory;
    fill_cell(&memory, true);
    trial_says("gru_reset_any and gru_update_any");
    run_cell(cells->gru_reset_any, rules, &memory, 32);
    for (size_t j = 0; j < 32; j++) {
        double z = sigmoid((double)memory.gates[j]);
        double reset = sigmoid((double)memory.gates[32 + j]) * (double)memory.h[j];
        if (!compare_unit("z", j, memory.c[j], z, 4, 1e-9) ||
            !compare_unit("r * h", j, memory.h_next[j], reset, 5, 1e-9))
            return false;
    }
    run_cell(cells->gru_update_any, rules, &memory, 32);
    for (size_t j = 0; j < 32; j++) {
        double z = (double)memory.c[j];
        double h = (1 - z) * tanh((double)memory.gates[j]) + z * (double)memory.h[j];
        if (!compare_unit("h", j, memory.h_next[j], h, 0, 5e-7))
            return false;
    }
    return true;
}

/* relu, hardsigmoid and clip are the same operations for vectors and scalars. */
static bool check_rules(const struct recurrent_cells *cells)
{
    static struct cell_memory memory;
    struct recurrent rules = {.clip = 0.75};
    for (int k = 0; k < 2; k++) {
        fill_cell(&memory, true);
        trial_says(k == 0 ? "rnn_any, relu, clip" : "rnn_any, hardsigmoid, clip");
        rules.activations[0] = (struct recurrent_activation){
            k == 0 ? RECURRENT_RELU : RECURRENT_HARDSIGMOID, 0.4, 0.5};
        run_cell(cells->rnn_any, &rules, &memory, 64);
        for (size_t j = 0; j < 64; j++) {
            double z = (double)memory.gates[j];
            z = z < -0.75 ? -0.75 : z > 0.75 ? 0.75 : z;
            double h = k == 0 ? (z < 0 ? 0 : z) : 0.4 * z + 0.5;
            if (!compare_unit("h", j, memory.h_next[j], h, 2, 1e-7))
                return false;
        }
    }
    return true;
}

bool check_recurrent_cells(const struct trial *trial)
{
    const struct recurrent_cells *cells = &trial->variant->packed_gemm->cells;
    const struct recurrent rules = {
        .clip = INFINITY,
        .activations = {{.function = RECURRENT_SIGMOID},
                        {.function = RECURRENT_TANH},
                        {.function = RECURRENT_TANH}},
    };
    for (int i = 0; i < 200; i++)
        if (!check_functions(cells, &rules) || !check_lstm(cells, &rules, false) ||
            !check_lstm(cells, &rules, true) || !check_gru(cells, &rules, false) ||
            !check_gru(cells, &rules, true) || !check_two_step_gru(cells, &rules) ||
            !check_rules(cells))
            return false;
    return true;
}
