/* Packs constant matrices of small integers, and multiplies by them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/integer_matrix.h"

#include <string.h>

#include "base/checked.h"
#include "kernels/gemm_integer.h"

/* Layout numbers that packed panels do not use. */
enum { LAYOUT_INT8 = 200, LAYOUT_UNPACKED };

/* The work of an int8 multiply-add, relative to an f32 multiply-add. */
#define INT8_WORK 0.25

bool integer_matrix_should_pack(const struct prepare *prepare)
{
    enum irrun_dtype dtype = prepare->in[1]->dtype;
    return kernels_may_pack(prepare->kernels) && prepare->in[0]->dtype == dtype &&
           (dtype == IRRUN_I32 || dtype == IRRUN_U32);
}

/* Returns whether the elements minus *zero_point fit in i8. Chooses *zero_point: 0 if possible. */
static bool are_bytes(const int32_t *elements, size_t n, int32_t *zero_point)
{
    int32_t low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        low = elements[i] < low ? elements[i] : low;
        high = elements[i] > high ? elements[i] : high;
    }
    *zero_point = low >= INT8_MIN && high <= INT8_MAX ? 0 : low - INT8_MIN;
    return (int64_t)high - low <= UINT8_MAX;
}

/* Returns the number of columns of B, padded to whole groups. */
static size_t padded_columns(const struct product *p)
{
    return int8_n_groups(p->n) * INT8_GROUP;
}

/* Writes the sums of the columns, then the packed matrix. A quad is INT8_QUAD rows, packed
 * together. */
static void pack_elements(const struct product *p, const int32_t *from, int32_t zero_point,
                          int32_t *sums)
{
    size_t n_quads = int8_n_quads(p->k);
    int8_t *to = (int8_t *)(sums + padded_columns(p));
    memset(sums, 0, padded_columns(p) * (n_quads * INT8_QUAD + sizeof *sums));
    for (size_t i = 0; i < p->k * p->n; i++) {
        size_t row = p->b_transposed ? i % p->k : i / p->n;
        size_t column = p->b_transposed ? i / p->k : i % p->n;
        int32_t x = from[i] - zero_point;
        sums[column] += x;
        to[int8_packed_index(n_quads, row, column)] = (int8_t)x;
    }
}

/* Requests scratch memory for the initial sums of the columns and of the rows, and for the rows of
 * A as bytes. */
static bool request_scratch(struct prepare *prepare, const struct product *p)
{
    size_t row_bytes = int8_n_quads(p->k) * INT8_QUAD;
    return prepare_scratch(prepare, padded_columns(p), sizeof(int32_t)) &&
           prepare_scratch(prepare, p->m, sizeof(int32_t) + row_bytes);
}

static bool pack_bytes(struct prepare *prepare, const struct product *p, const int32_t *from,
                       struct integer_matrix *matrix)
{
    size_t size_bytes;
    bool is_new;
    if (!checked_mul(padded_columns(p), int8_n_quads(p->k) * INT8_QUAD + sizeof(int32_t),
                     &size_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    int32_t *sums = prepare_prepacked(prepare, LAYOUT_INT8, size_bytes, &is_new);
    if (!sums)
        return false;
    if (is_new)
        pack_elements(p, from, matrix->b_zero_point, sums);
    matrix->column_sums = sums;
    matrix->b = (const int8_t *)(sums + padded_columns(p));
    return request_scratch(prepare, p);
}

static bool copy_unpacked(struct prepare *prepare, const struct product *p, const int32_t *from,
                          struct integer_matrix *matrix)
{
    bool is_new;
    size_t size_bytes = p->k * p->n * sizeof *from;
    void *unpacked = prepare_prepacked(prepare, LAYOUT_UNPACKED, size_bytes, &is_new);
    if (unpacked && is_new)
        memcpy(unpacked, from, size_bytes);
    matrix->unpacked = unpacked;
    return unpacked != NULL;
}

bool integer_matrix_pack(struct prepare *prepare, const struct product *p,
                         struct integer_matrix *matrix)
{
    const int32_t *from = prepare_elements(prepare, 1, 0, p->k * p->n);
    if (!from)
        return false;
    matrix->kernels = prepare->kernels->gemm_int8;
    matrix->n_parts = thread_pool_n_parts(
        prepare->pool, INT8_WORK * (double)p->m * (double)p->n * (double)p->k, int8_n_groups(p->n));
    return are_bytes(from, p->k * p->n, &matrix->b_zero_point)
               ? pack_bytes(prepare, p, from, matrix)
               : copy_unpacked(prepare, p, from, matrix);
}

struct run {
    const struct integer_matrix *matrix;
    struct int8_product bytes;     /* if the elements of A minus the least one fit in u8 */
    struct int8_wide_product wide; /* otherwise */
    bool is_wide;
};

static void run_groups(void *context, size_t part, size_t n_parts)
{
    struct run run = *(const struct run *)context;
    size_t n_groups = int8_n_groups(run.bytes.n);
    run.wide.begin = run.bytes.begin = n_groups * part / n_parts;
    run.wide.end = run.bytes.end = n_groups * (part + 1) / n_parts;
    if (run.is_wide)
        run.matrix->kernels->multiply_wide(&run.wide);
    else
        run.matrix->kernels->multiply(&run.bytes);
}

/* Multiplies by a packed matrix. With a = x + least and b = y + zero_point, where x and y have 8
 * bits, the sum of a * b is the sum of x * y, plus least * (sum of y) for the column, plus
 * zero_point * (sum of a) for the row. */
static void multiply_by_bytes(const struct integer_matrix *matrix, const struct product *p,
                              const int32_t *a, int32_t *c, const struct step *step)
{
    size_t n_quads = int8_n_quads(p->k), n = padded_columns(p);
    int32_t *start = step->scratch, *row_start = start + n, least;
    uint8_t *rows = (uint8_t *)(row_start + p->m);
    bool is_narrow = matrix->kernels->narrow(p->m, p->k, a, rows, &least, row_start);
    for (size_t i = 0; i < n && is_narrow; i++)
        start[i] = (int32_t)((uint32_t)least * (uint32_t)matrix->column_sums[i]);
    for (size_t i = 0; i < p->m; i++)
        row_start[i] = (int32_t)((uint32_t)matrix->b_zero_point * (uint32_t)row_start[i]);
    struct run run = {.matrix = matrix,
                      .bytes = {.m = p->m,
                                .n = p->n,
                                .n_segments = 1,
                                .n_quads = n_quads,
                                .a = &(const uint8_t *){rows},
                                .lda = n_quads * INT8_QUAD,
                                .b = matrix->b,
                                .start = start,
                                .row_start = row_start,
                                .to = INT8_TO_I32,
                                .c = c,
                                .ldc = p->n},
                      .wide = {.m = p->m,
                               .n = p->n,
                               .k = p->k,
                               .a = a,
                               .b = matrix->b,
                               .row_start = row_start,
                               .c = c},
                      .is_wide = !is_narrow};
    thread_pool_run(step->pool, run_groups, &run, matrix->n_parts);
}

void integer_matrix_run(const struct integer_matrix *matrix, const struct product *p, const void *a,
                        void *c, const struct step *step)
{
    if (matrix->b)
        multiply_by_bytes(matrix, p, a, c, step);
    else
        gemm_integer(&(struct gemm_integer){.m = p->m,
                                            .n = p->n,
                                            .k = p->k,
                                            .a = a,
                                            .b = matrix->unpacked,
                                            .b_transposed = p->b_transposed,
                                            .c = c},
                     sizeof(int32_t));
}
