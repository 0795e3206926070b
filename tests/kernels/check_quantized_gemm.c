/* Checks products with dynamic quantization against their definition, bit for bit: every type,
 * group sizes near the block size, row counts near the tile size, rows of zeros, infinities and
 * NaN.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"
#include "compressed_problem.h"

static const enum irrun_dtype types[] = {IRRUN_U8, IRRUN_I8, IRRUN_U4, IRRUN_I4};
#define N_TYPES (sizeof types / sizeof types[0])
#define MAX_M 37

/* The rows of a product, as floats and quantized. */
struct rows {
    struct guarded guarded[4];
    float *x, *c;
    uint8_t *codes;
    struct quantized_block *blocks;
};

static void fill_row(float *x, size_t k)
{
    size_t kind = random_below(12);
    float size = kind == 0 ? 1e-36F : kind == 1 ? 0 : kind == 2 ? 3e38F : 1;
    for (size_t i = 0; i < k; i++)
        x[i] = random_float(size);
    if (kind == 3)
        x[random_below((uint32_t)k)] = random_below(2) ? -INFINITY : NAN;
}

static struct rows rows_new(const struct trial *trial, const struct compressed_matrix *matrix,
                            size_t m)
{
    struct quantized_blocks blocks = quantized_blocks_of(matrix);
    size_t row_bytes = blocks.n * blocks.max_quads * INT8_QUAD, n = matrix->n, k = matrix->k;
    struct rows rows;
    rows.x = guarded_alloc(&rows.guarded[0], m * k * sizeof *rows.x);
    rows.c = guarded_alloc(&rows.guarded[1], m * n * sizeof *rows.c);
    rows.codes = guarded_alloc(&rows.guarded[2], m * row_bytes);
    rows.blocks = guarded_alloc(&rows.guarded[3], m * blocks.n * sizeof *rows.blocks);
    for (size_t i = 0; i < m; i++) {
        fill_row(rows.x + i * k, k);
        trial->variant->quantized_gemm->quantize(matrix, rows.x + i * k, rows.codes + i * row_bytes,
                                                 rows.blocks + i * blocks.n);
    }
    return rows;
}

static void rows_free(struct rows *rows)
{
    for (size_t i = 0; i < 4; i++)
        guarded_free(&rows->guarded[i]);
}

/* Returns the part of the sum of row j that a block of n elements from `first` on gives. */
static float block_sum(const struct compressed_matrix *matrix, const float *x, size_t j,
                       size_t first, size_t n)
{
    struct compressed_matrix unscaled = *matrix;
    volatile float largest = 0, sum = 0;
    double exact = 0;
    unscaled.scales.data = NULL;
    for (size_t k = first; k < first + n; k++)
        largest = isfinite(x[k]) && !isnan(largest) ? fmaxf(largest, fabsf(x[k])) : NAN;
    volatile float factor = largest >= 0x1p-118F ? 127 / largest : 0;
    for (size_t k = first; k < first + n && factor > 0; k++) {
        volatile float scaled = x[k] * factor;
        exact += nearbyint((double)scaled) * (double)element_of(&unscaled, j, k);
    }
    sum = (float)exact;
    sum *= number_of(&matrix->scales, j, first / matrix->group, 1);
    return sum * (factor > 0 ? largest / 127 : largest * 0);
}

static bool is_right(const struct compressed_matrix *matrix, const float *x, const float *start,
                     size_t j, float got)
{
    volatile float want = start ? start[j] : 0;
    for (size_t first = 0, n; first < matrix->k; first += n) {
        n = matrix->group - first % matrix->group;
        n = n < QUANTIZED_BLOCK ? n : QUANTIZED_BLOCK;
        want += block_sum(matrix, x, j, first, n);
    }
    return got == want || (isnan(got) && isnan(want)) ||
           trial_fail("column %zu is %.9g, not %.9g", j, (double)got, (double)want);
}

/* Returns the product of m rows by the whole matrix, with memory for a panel. */
static struct quantized_product product_new(const struct trial *trial,
                                            const struct compressed_matrix *matrix,
                                            const struct rows *rows, size_t m,
                                            struct guarded *panel_memory)
{
    return (struct quantized_product){
        .kernels = trial->variant->quantized_gemm,
        .int8 = trial->variant->gemm_int8,
        .matrix = matrix,
        .m = m,
        .end = matrix->n,
        .codes = rows->codes,
        .blocks = rows->blocks,
        .c = rows->c,
        .ldc = matrix->n,
        .panel = guarded_alloc(panel_memory,
                               quantized_panel_bytes(trial->variant->quantized_gemm, matrix, m)),
    };
}

/* Multiplies m rows by some columns. Other columns must not change. */
static bool check_product(const struct trial *trial, const struct compressed_matrix *matrix,
                          size_t m)
{
    size_t n = matrix->n, begin = random_below((uint32_t)n);
    begin -= begin % QUANTIZED_PANEL_ROWS;
    size_t end = begin + 1 + random_below((uint32_t)(n - begin));
    struct rows rows = rows_new(trial, matrix, m);
    struct guarded start_memory, panel_memory;
    float *start = guarded_alloc(&start_memory, n * sizeof *start);
    for (size_t i = 0; i < n; i++)
        start[i] = random_float(1);
    for (size_t i = 0; i < m * n; i++)
        rows.c[i] = -77;
    struct quantized_product p = product_new(trial, matrix, &rows, m, &panel_memory);
    p.begin = begin;
    p.end = end;
    p.start = random_below(2) ? start : NULL;
    quantized_multiply(&p);
    bool is_good = true;
    for (size_t i = 0; i < m * n && is_good; i++) {
        if (i % n >= begin && i % n < end)
            is_good = is_right(matrix, rows.x + i / n * matrix->k, p.start, i % n, rows.c[i]);
        else if (rows.c[i] != -77)
            is_good = trial_fail("c[%zu][%zu] is written", i / n, i % n);
    }
    rows_free(&rows);
    guarded_free(&start_memory);
    guarded_free(&panel_memory);
    return is_good;
}

static bool try_sizes(const struct trial *trial, enum irrun_dtype dtype, size_t m, size_t n,
                      size_t n_groups, size_t group)
{
    struct problem problem = problem_new(dtype, n, n_groups, group);
    trial_says("%s m=%zu n=%zu groups=%zu group=%zu", irrun_dtype_name(dtype), m, n, n_groups,
               group);
    bool is_good = check_product(trial, &problem.matrix, m);
    problem_free(&problem);
    return is_good;
}

bool check_quantized_gemm(const struct trial *trial)
{
    for (size_t type = 0; type < N_TYPES; type++) {
        for (size_t group = 2; group <= 150; group += type < 2 ? 3 : 2)
            if (!try_sizes(trial, types[type], 1 + random_below(MAX_M), 1 + random_below(150),
                           1 + random_below(4), group))
                return false;
        for (size_t group = 16; group <= 1026; group = group < 512 ? 2 * group : group + 514)
            for (size_t n_groups = 1; n_groups <= 600 / group + 1; n_groups += 1 + n_groups / 3)
                if (!try_sizes(trial, types[type], 1, 1 + random_below(40), n_groups, group) ||
                    !try_sizes(trial, types[type], 1 + random_below(MAX_M), 9, n_groups, group))
                    return false;
    }
    return true;
}

static void multiply(const void *context)
{
    quantized_multiply(context);
}

void measure_quantized_gemm(const struct trial *trial)
{
    static const size_t sizes[][4] = {{0, 1, 1024, 1024}, {0, 1, 32768, 1536}, {0, 256, 1024, 1536},
                                      {2, 1, 1024, 128},  {2, 1, 32768, 128},  {2, 256, 1024, 128},
                                      {2, 1, 1024, 32}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t m = sizes[i][1], n = sizes[i][2], group = sizes[i][3];
        struct problem problem =
            problem_new(types[sizes[i][0]], n, group <= 128 ? 1536 / group : 1, group);
        const struct compressed_matrix *matrix = &problem.matrix;
        struct rows rows = rows_new(trial, matrix, m);
        struct guarded panel_memory;
        struct quantized_product p = product_new(trial, matrix, &rows, m, &panel_memory);
        char what[64];
        snprintf(what, sizeof what, "%zux%zux%zu/%zu %s", m, matrix->k, n, group,
                 irrun_dtype_name(matrix->dtype));
        measure_line(what, measure_s(multiply, &p), compressed_bytes(matrix, n * matrix->k));
        rows_free(&rows);
        guarded_free(&panel_memory);
        problem_free(&problem);
    }
}
