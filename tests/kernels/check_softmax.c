/* Checks Softmax against its definition, computed in double from the differences to the maximum:
 * rows and columns of all lengths, also in place, NaN and infinities.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"

static float random_or_special(void)
{
    static const float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 3e38F, -3e38F, 1e-40F};
    return random_below(200) == 0 ? special[random_below(8)] : random_float(30.0F);
}

static bool compare(const float *got, const double *wanted, size_t n, bool is_log)
{
    double absolute = is_log ? 1e-6 : 1e-30;
    for (size_t i = 0; i < n; i++) {
        double x = (double)got[i], y = wanted[i];
        bool is_good = isnan(y) ? isnan(x) : x == y || fabs(x - y) <= absolute + 1e-6 * fabs(y);
        if (!is_good)
            return trial_fail("element %zu: %.9g, expected %.9g", i, x, y);
    }
    return true;
}

static void softmax_reference(const struct softmax *s, const float *in, double *out)
{
    for (size_t row = 0; row < s->n_outer * s->n_inner; row++) {
        size_t first = row / s->n_inner * s->n * s->n_inner + row % s->n_inner, step = s->n_inner;
        float highest = -INFINITY;
        double sum = 0;
        for (size_t i = 0; i < s->n; i++)
            highest = fmaxf(in[first + i * step] * s->scale, highest);
        for (size_t i = 0; i < s->n; i++)
            sum += exp((double)(in[first + i * step] * s->scale - highest));
        for (size_t i = 0; i < s->n; i++) {
            double x = (double)(in[first + i * step] * s->scale - highest);
            out[first + i * step] = s->is_log ? x - log(sum) : exp(x) / sum;
        }
    }
}

static float small_float(void)
{
    return random_float(2.0F);
}

static float random_scale(void)
{
    return random_below(2) ? 1 : random_float(2.0F);
}

static bool try_sizes(const struct trial *trial, const struct softmax *s, float (*number)(void))
{
    size_t n = s->n_outer * s->n * s->n_inner, n_bytes = n * sizeof(float);
    struct guarded in = guarded_new(n_bytes), out = guarded_new(n_bytes);
    float *from = (void *)guarded_last(&in, n_bytes), *to = (void *)guarded_last(&out, n_bytes);
    double *wanted = malloc((n + 1) * sizeof *wanted);
    trial_says("[%zu,%zu,%zu]%s", s->n_outer, s->n, s->n_inner, s->is_log ? " log" : "");
    for (size_t i = 0; i < n; i++)
        from[i] = number();
    softmax_reference(s, from, wanted);
    trial->variant->softmax_f32(s, from, to);
    bool is_good = compare(to, wanted, n, s->is_log);
    trial->variant->softmax_f32(s, from, from);
    is_good = is_good && memcmp(from, to, n_bytes) == 0;
    free(wanted);
    guarded_free(&in);
    guarded_free(&out);
    return is_good;
}

static bool check_short(const struct trial *trial)
{
    for (size_t n = 1; n <= 70; n++) {
        uint32_t most_rows = n <= 16 ? 40 : 3; /* short ones are computed many at a time */
        struct softmax row = {1 + random_below(most_rows), n, 1, random_below(2), random_scale()};
        struct softmax columns = {1 + random_below(3), 1 + random_below(9), n, random_below(2),
                                  random_scale()};
        if (!try_sizes(trial, &row, random_or_special) ||
            !try_sizes(trial, &columns, random_or_special))
            return false;
    }
    return true;
}

/* Sums of so many numbers that the rounding of each addition matters. */
static bool check_long(const struct trial *trial)
{
    static const struct softmax sizes[] = {{1, 1000003, 1, false, 1},
                                           {1, 1000003, 1, true, 1},
                                           {1, 250001, 5, false, 1},
                                           {1, 250001, 5, true, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!try_sizes(trial, &sizes[i], small_float))
            return false;
    return true;
}

bool check_softmax(const struct trial *trial)
{
    return check_short(trial) && check_long(trial);
}

struct work {
    const struct trial *trial;
    struct softmax softmax;
    float *numbers;
};

static void run_softmax(const void *context)
{
    const struct work *work = context;
    work->trial->variant->softmax_f32(&work->softmax, work->numbers, work->numbers);
}

void measure_softmax(const struct trial *trial)
{
    static const struct softmax sizes[] = {
        {64, 1000, 1, false, 1}, {64, 10, 1, false, 1}, {1, 64, 1000, false, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i].n_outer * sizes[i].n * sizes[i].n_inner;
        struct work work = {trial, sizes[i], calloc(n, sizeof(float))};
        char what[64];
        if (!work.numbers)
            abort();
        snprintf(what, sizeof what, "[%zu,%zu,%zu]", sizes[i].n_outer, sizes[i].n,
                 sizes[i].n_inner);
        measure_line(what, measure_s(run_softmax, &work), 2 * n * sizeof(float));
        free(work.numbers);
    }
}
