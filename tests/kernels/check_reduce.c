/* Checks that reductions and affine maps of f32 and f64 have the same bits as at the scalar level,
 * and are close to plain sums: rows and columns of all lengths, NaN and infinities.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"

enum { MAX_ROWS = 40, MAX_N = 150, MAX_STEP = MAX_N + 3 };

static void fill(void *to, bool is_f32, size_t n, bool has_specials)
{
    static const float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 3e38F, -3e38F, 1e-40F};
    for (size_t i = 0; i < n; i++) {
        float x =
            has_specials && random_below(100) == 0 ? special[random_below(8)] : random_float(2.0F);
        if (is_f32)
            ((float *)to)[i] = x;
        else
            ((double *)to)[i] = (double)x * 1.1;
    }
}

static double element(const void *from, bool is_f32, size_t i)
{
    return is_f32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

static double plain_fold(enum reduce_operation operation, double y, double x, double center)
{
    const double terms[] = {
        [REDUCE_SUM] = y + x,
        [REDUCE_SUM_OF_MAGNITUDES] = y + fabs(x),
        [REDUCE_SUM_OF_SQUARES] = y + x * x,
        [REDUCE_SUM_OF_SQUARED_DEVIATIONS] = y + (x - center) * (x - center),
        [REDUCE_PROD] = y * x,
        [REDUCE_MAX] = y < x ? x : y,
        [REDUCE_MIN] = x < y ? x : y,
    };
    return terms[operation];
}

static void reduce_reference(enum reduce_operation operation, const struct reduction *r,
                             const void *in, bool is_f32, double *to)
{
    for (size_t i = 0; i < r->n_rows * r->n; i++) {
        size_t row = i / r->n, column = i % r->n, at = r->to_columns ? column : row;
        to[at] = plain_fold(operation, to[at], element(in, is_f32, row * r->row_step + column),
                            r->centers[at]);
    }
}

static bool is_near(double x, double y, double magnitude)
{
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-13 * magnitude;
}

static bool try_reduction(const struct trial *trial, enum reduce_operation operation, bool is_f32,
                          bool has_specials)
{
    static double centers[MAX_N], got[MAX_N], reference[MAX_N], plain[MAX_N];
    struct reduction r = {1 + random_below(MAX_ROWS), random_below(MAX_N), 0, random_below(2),
                          centers};
    r.row_step = r.n + random_below(3);
    size_t n_to = r.to_columns ? r.n : r.n_rows, n = (r.n_rows - 1) * r.row_step + r.n;
    size_t n_bytes = n * (is_f32 ? sizeof(float) : sizeof(double));
    struct guarded source = guarded_new(n_bytes);
    void *in = guarded_last(&source, n_bytes);
    trial_says("%s, %s, %zu rows of %zu, to %s",
               (const char *[]){"sum", "magnitudes", "squares", "deviations", "product", "maximum",
                                "minimum"}[operation],
               is_f32 ? "f32" : "f64", r.n_rows, r.n, r.to_columns ? "columns" : "rows");
    fill(in, is_f32, n, has_specials);
    fill(centers, false, n_to, false);
    fill(plain, false, n_to, false);
    memcpy(got, plain, sizeof got);
    memcpy(reference, plain, sizeof got);
    enum irrun_dtype dtype = is_f32 ? IRRUN_F32 : IRRUN_F64;
    reduce_choose(trial->variant->reduce, operation, dtype)(&r, in, (void *)got);
    reduce_choose(trial->reference->reduce, operation, dtype)(&r, in, (void *)reference);
    reduce_reference(operation, &r, in, is_f32, plain);
    guarded_free(&source);
    for (size_t i = 0; i < n_to; i++) {
        double magnitude = operation == REDUCE_PROD ? fabs(plain[i]) : has_specials ? 1e80 : 1000;
        bool is_same = memcmp(got + i, reference + i, sizeof *got) == 0 ||
                       (isnan(got[i]) && isnan(reference[i]));
        if (!is_same || !is_near(got[i], plain[i], magnitude))
            return trial_fail("result %zu: %.17g, scalar %.17g, plain sum %.17g", i, got[i],
                              reference[i], plain[i]);
    }
    return true;
}

bool check_reduce(const struct trial *trial)
{
    for (unsigned i = 0; i < 7 * 400; i++)
        if (!try_reduction(trial, i % 7, i % 2, i % 3 == 0))
            return false;
    return true;
}

static bool try_maps(const struct trial *trial, size_t n, bool is_f32)
{
    static double centers[MAX_N], scales[MAX_N];
    size_t n_bytes = n * (is_f32 ? sizeof(float) : sizeof(double));
    struct guarded source = guarded_new(n_bytes), target = guarded_new(n_bytes);
    void *in = guarded_last(&source, n_bytes), *out = guarded_last(&target, n_bytes);
    const struct affine_kernels *variant = trial->variant->affine;
    const struct affine_kernels *reference = trial->reference->affine;
    struct affine map = {0.25, 1.7, 0.1};
    bool is_good;
    trial_says("%zu of %s", n, is_f32 ? "f32" : "f64");
    fill(in, is_f32, n, false);
    fill(centers, false, n, false);
    fill(scales, false, n, false);
    (is_f32 ? variant->f32 : variant->f64)(&map, in, out, n);
    (is_f32 ? reference->f32 : reference->f64)(&map, in, in, n);
    is_good = n_bytes == 0 || memcmp(in, out, n_bytes) == 0;
    (is_f32 ? variant->each_f32 : variant->each_f64)(centers, scales, in, out, n);
    (is_f32 ? reference->each_f32 : reference->each_f64)(centers, scales, in, in, n);
    is_good = is_good && (n_bytes == 0 || memcmp(in, out, n_bytes) == 0);
    guarded_free(&source);
    guarded_free(&target);
    return is_good || trial_fail("differs from the scalar level");
}

bool check_affine(const struct trial *trial)
{
    for (size_t n = 0; n < 2 * 70; n++)
        if (!try_maps(trial, n / 2, n % 2))
            return false;
    return true;
}

struct work {
    const struct trial *trial;
    struct reduction reduction;
};

static float numbers[128 * 384];
static double results[384];

static void reduce(const void *context)
{
    const struct work *work = context;
    work->trial->variant->reduce->f32[REDUCE_SUM](&work->reduction, numbers, (void *)results);
}

void measure_reduce(const struct trial *trial)
{
    struct work work = {trial, {128, 384, 384, false, NULL}};
    measure_line("128 rows of 384", measure_s(reduce, &work), sizeof numbers);
    work.reduction.to_columns = true;
    measure_line("384 columns of 128", measure_s(reduce, &work), sizeof numbers);
}

static void map(const void *context)
{
    const struct trial *trial = context;
    trial->variant->affine->f32(&(struct affine){0.5, 1, 0}, numbers, numbers, 128 * 384);
}

void measure_affine(const struct trial *trial)
{
    measure_line("49152 f32", measure_s(map, trial), 2 * sizeof numbers);
}
