/* Checks products by compressed matrices against their definition: every type, group sizes around a
 * vector, scales and zero points per group, per row or for all, memory that ends at an unmapped
 * page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_kernels.h"
#include "compressed_problem.h"

static const enum irrun_dtype types[] = {IRRUN_U8,     IRRUN_I8,  IRRUN_U4,   IRRUN_I4, IRRUN_NF4,
                                         IRRUN_F4E2M1, IRRUN_F16, IRRUN_BF16, IRRUN_F32};
#define N_TYPES (sizeof types / sizeof types[0])

static bool check_expanded(const struct compressed_matrix *matrix)
{
    size_t row = random_below((uint32_t)matrix->n);
    struct guarded guarded;
    float *to = guarded_alloc(&guarded, matrix->k * sizeof *to);
    bool is_good = true;
    compressed_expand_row(matrix, row, to);
    for (size_t i = 0; i < matrix->k && is_good; i++)
        if (to[i] != element_of(matrix, row, i))
            is_good = trial_fail("element %zu of row %zu is %g, not %g", i, row, (double)to[i],
                                 (double)element_of(matrix, row, i));
    guarded_free(&guarded);
    return is_good;
}

/* Expands all rows. The memory between the columns must not change. */
static bool check_columns(const struct trial *trial, const struct compressed_matrix *matrix)
{
    size_t k = matrix->k, step = PANEL_GROUP + random_below(2) * PANEL_GROUP;
    struct compressed_columns columns = {.matrix = matrix, .step = step, .ahead = 4096};
    columns.first = random_below((uint32_t)k / 2) * 2;
    columns.n = 1 + random_below((uint32_t)(k - columns.first));
    if (has_4_bits(matrix->dtype))
        columns.n += columns.n % 2;
    size_t n_floats = (columns.n - 1) * step + PANEL_GROUP;
    struct guarded guarded;
    columns.to = guarded_alloc(&guarded, n_floats * sizeof *columns.to);
    bool is_good = true;
    for (; columns.row < matrix->n + PANEL_GROUP; columns.row += PANEL_GROUP) {
        for (size_t i = 0; i < n_floats; i++)
            columns.to[i] = -77;
        trial->variant->compressed_gemm->expand_columns(&columns);
        for (size_t i = 0; i < n_floats && is_good; i++) {
            size_t row = columns.row + i % step, at = columns.first + i / step;
            row = row < matrix->n ? row : matrix->n - 1;
            float want = i % step < PANEL_GROUP ? element_of(matrix, row, at) : -77;
            if (columns.to[i] != want)
                is_good = trial_fail("element %zu of the column of row %zu is %g, not %g", at, row,
                                     (double)columns.to[i], (double)want);
        }
    }
    guarded_free(&guarded);
    return is_good;
}

static bool is_right(const struct compressed_product *p, const float *x, size_t i, size_t j)
{
    const struct compressed_matrix *matrix = p->matrix;
    double want = p->start ? (double)p->start[j] : 0, size = fabs(want);
    for (size_t k = 0; k < matrix->k; k++) {
        double term = (double)x[i * matrix->k + k] * (double)element_of(matrix, j, k);
        want += term;
        size += fabs(term);
    }
    double got = (double)p->c[i * p->ldc + j];
    return fabs(got - want) <= 1e-5 * size + 1e-44 || (isnan(got) && isnan(want)) ||
           trial_fail("c[%zu][%zu] is %g, not %g", i, j, got, want);
}

/* Multiplies m rows by columns begin ... end. Other columns must not change. */
static bool check_product(const struct trial *trial, const struct compressed_matrix *matrix,
                          size_t m)
{
    size_t n = matrix->n, k = matrix->k, row = compressed_row_floats(matrix);
    size_t begin = random_below((uint32_t)n), end = begin + 1 + random_below((uint32_t)(n - begin));
    struct guarded x_memory, arranged_memory, c_memory, start_memory;
    float *x = guarded_alloc(&x_memory, m * k * sizeof *x),
          *c = guarded_alloc(&c_memory, m * n * sizeof *c);
    float *arranged = guarded_alloc(&arranged_memory, m * row * sizeof *x);
    float *start = guarded_alloc(&start_memory, n * sizeof *start);
    for (size_t i = 0; i < m; i++) { /* some rows are too small for numbers in fixed point */
        float size = random_below(4) > 0 ? 1 : random_below(2) ? 1e-26F : 1e-28F;
        float odd = random_below(2) ? 1 : 0x1p-20F; /* in odd groups, whose scales may be large */
        for (size_t j = 0; j < k; j++)
            x[i * k + j] = random_float(size) * (j / matrix->group % 2 == 1 ? odd : 1);
        if (random_below(8) == 0)
            x[i * k + random_below((uint32_t)k)] = random_below(2) ? NAN : 1e9F;
    }
    for (size_t i = 0; i < m * n; i++)
        c[i] = -77;
    for (size_t i = 0; i < n; i++)
        start[i] = random_float(1);
    for (size_t i = 0; i < m; i++)
        trial->variant->compressed_gemm->arrange(matrix, m == 1, x + i * k, arranged + i * row);
    struct compressed_product p = {.matrix = matrix,
                                   .m = m,
                                   .begin = begin,
                                   .end = end,
                                   .x = arranged,
                                   .start = random_below(2) ? start : NULL,
                                   .c = c,
                                   .ldc = n};
    trial->variant->compressed_gemm->multiply(&p);
    bool is_good = true;
    for (size_t i = 0; i < m * n && is_good; i++) {
        if (i % n >= begin && i % n < end)
            is_good = is_right(&p, x, i / n, i % n);
        else if (c[i] != -77)
            is_good = trial_fail("c[%zu][%zu] is written", i / n, i % n);
    }
    guarded_free(&x_memory);
    guarded_free(&arranged_memory);
    guarded_free(&c_memory);
    guarded_free(&start_memory);
    return is_good;
}

static bool try_sizes(const struct trial *trial, size_t type, size_t n, size_t n_groups,
                      size_t group)
{
    struct problem problem = problem_new(types[type], n, n_groups, group);
    bool is_good = true;
    for (size_t m = 1; m <= COMPRESSED_MAX_ROWS && is_good; m++) {
        trial_says("%s m=%zu n=%zu groups=%zu group=%zu", irrun_dtype_name(types[type]), m, n,
                   n_groups, group);
        is_good = check_product(trial, &problem.matrix, m);
    }
    is_good = is_good && (is_float(types[type]) || check_expanded(&problem.matrix)) &&
              check_columns(trial, &problem.matrix);
    problem_free(&problem);
    return is_good;
}

bool check_compressed_gemm(const struct trial *trial)
{
    for (size_t type = 0; type < N_TYPES; type++) {
        for (size_t group = 2; group <= 140; group += 2) {
            size_t n = 1 + random_below(20), n_groups = 1 + random_below(4);
            if (!try_sizes(trial, type, n, n_groups, group))
                return false;
        }
        if (!try_sizes(trial, type, 9, 1, 1026) || !try_sizes(trial, type, 5, 3, 256))
            return false;
    }
    for (size_t type = 0; type < 4; type++) /* more groups than are loaded at once */
        for (size_t group = 32; group <= 128; group *= 2)
            if (!try_sizes(trial, type, 3, 132, group))
                return false;
    for (size_t type = 2; type < 4; type++) /* one row in fixed point, at some levels */
        for (size_t group = 8; group <= 512; group *= 2)
            for (int i = 0; i < 20; i++)
                if (!try_sizes(trial, type, 1 + random_below(9),
                               512 / group * (1 + random_below(2)), group))
                    return false;
    for (size_t type = 0; type < 2; type++)
        for (size_t k = 64; k <= 1024; k += 64)
            if (!try_sizes(trial, type, 1 + random_below(9), 1, k))
                return false;
    return try_sizes(trial, 0, 5, 3, 7) && try_sizes(trial, 1, 5, 1, 35) &&
           try_sizes(trial, 6, 5, 1, 35) && try_sizes(trial, 7, 5, 1, 35) &&
           try_sizes(trial, 8, 5, 1, 35);
}

static void multiply(const void *context)
{
    const struct trial *trial = ((const void *const *)context)[0];
    trial->variant->compressed_gemm->multiply(((const void *const *)context)[1]);
}

void measure_compressed_gemm(const struct trial *trial)
{
    static const size_t sizes[][4] = {{0, 1, 1024, 1024},  {0, 1, 32768, 1536}, {2, 1, 1024, 128},
                                      {2, 1, 32768, 128},  {2, 4, 1024, 128},   {4, 1, 1024, 128},
                                      {6, 1, 32768, 1536}, {6, 4, 32768, 1536}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        enum irrun_dtype dtype = types[sizes[i][0]];
        size_t m = sizes[i][1], n = sizes[i][2], group = sizes[i][3];
        struct problem problem = problem_new(dtype, n, group == 128 ? 12 : 1, group);
        size_t x_row = compressed_row_floats(&problem.matrix), k = problem.matrix.k;
        size_t n_floats = k + m * (x_row + n);
        float *x = aligned_alloc(64, divide_up(n_floats * sizeof *x, 64) * 64), *from;
        if (!x)
            return;
        from = memset(x + m * (x_row + n), 0, k * sizeof *from);
        problem.matrix.zero_points.data = NULL;
        for (size_t row = 0; row < m; row++)
            trial->variant->compressed_gemm->arrange(&problem.matrix, m == 1, from,
                                                     x + row * x_row);
        struct compressed_product p = {
            .matrix = &problem.matrix, .m = m, .end = n, .x = x, .c = x + m * x_row, .ldc = n};
        char what[64];
        snprintf(what, sizeof what, "%zux%zux%zu %s", m, k, n, irrun_dtype_name(dtype));
        double seconds = measure_s(multiply, (const void *[]){trial, &p});
        measure_line(what, seconds, compressed_bytes(&problem.matrix, n * problem.matrix.k));
        free(x);
        problem_free(&problem);
    }
}
