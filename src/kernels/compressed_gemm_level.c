/* Products by compressed matrices. Elements are decoded in blocks of two vectors. Those of 8 bits
 * are in order; of those of 4 bits, elements with even numbers (the low halves of the bytes) come
 * first. `arrange` puts x into the same order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/compressed_gemm.h"
#include "kernels/vector_integer.h"

struct fixed_layout;

enum { BLOCK = 2 * VECTOR_LANES, LINE_BYTES = 64 };

/* How many rows of the matrix are read at the same time if x has several rows. With one row of x it
 * is 1: memory delivers a single stream twice as fast. */
#if VECTOR_REGISTERS >= 32
enum { ROWS_BY_SEVERAL = 2 };
#else
enum { ROWS_BY_SEVERAL = 1 };
#endif
enum { ROWS = 4, MAX_SUMS = ROWS_BY_SEVERAL * COMPRESSED_MAX_ROWS };

/* Prefetch distance for elements of 4 bits, which take longer to decode than to read. */
#define BYTES_AHEAD 1024

ALWAYS_INLINE bool is_bytes(enum irrun_dtype dtype)
{
    return dtype == IRRUN_U8 || dtype == IRRUN_I8;
}

static float number_of(const struct group_params *numbers, size_t row, size_t group, float none)
{
    size_t at = row * numbers->row_step + group * numbers->group_step;
    if (!numbers->data)
        return none;
    switch (numbers->dtype) {
    case IRRUN_U8:
        return ((const uint8_t *)numbers->data)[at];
    case IRRUN_I8:
        return ((const int8_t *)numbers->data)[at];
    default:
        return ((const float *)numbers->data)[at];
    }
}

ALWAYS_INLINE bool is_table(enum irrun_dtype dtype)
{
    return dtype != IRRUN_U4 && dtype != IRRUN_I4 && !is_bytes(dtype);
}

/* Returns the factor of high halves, for x and the scales: they are not shifted, so they are 16
 * times the integer. */
ALWAYS_INLINE float high_factor(enum irrun_dtype dtype)
{
    return dtype == IRRUN_U4 || dtype == IRRUN_I4 ? 1.0F / 16 : 1;
}

/* How a row of x is arranged: its first float. */
#define ARRANGED_FLOATS 0.0F
#define ARRANGED_FIXED 1.0F

/* Returns the number of floats of a group of x as floats. */
ALWAYS_INLINE size_t group_floats(const struct compressed_matrix *matrix)
{
    return (matrix->group + COMPRESSED_PAD - 1) / COMPRESSED_PAD * COMPRESSED_PAD;
}

#include "kernels/compressed_floats_body.h"
#ifdef VECTOR_HAS_DOT_U8
#include "kernels/compressed_fixed_body.h"
#endif

/* Multiplies n rows of the matrix, from `row` on, by m rows of x. Rows from p->end on are replaced
 * by the last row and not stored. */
ALWAYS_INLINE void multiply_rows(const struct compressed_product *p, enum irrun_dtype dtype,
                                 const struct fixed_layout *layout, size_t row, const size_t n,
                                 const size_t m)
{
    enum { MAX_TOTALS = (MAX_SUMS > ROWS ? MAX_SUMS : ROWS) + 3 };
    const size_t n_beside = layout || m == 1 ? 1 : n;
    size_t rows[ROWS];
    vec totals[MAX_TOTALS];
    float dots[MAX_TOTALS];
    UNROLL
    for (size_t r = 0; r < n; r++)
        rows[r] = row + r < p->end ? row + r : p->end - 1;
    for (size_t r = 0; r < n; r += n_beside) {
#ifdef VECTOR_HAS_DOT_U8
        if (layout) {
            sum_row_fixed(p, layout, dtype, rows[r], m, totals + r * m);
            continue;
        }
#endif
        sum_rows(p, dtype, rows + r, n_beside, m, totals + r * m);
    }
    UNROLL
    for (size_t i = n * m; i < (n * m + 3) / 4 * 4; i++)
        totals[i] = vec_zero();
    UNROLL
    for (size_t i = 0; i < n * m; i += 4)
        vec_store_sums(dots + i, totals[i], totals[i + 1], totals[i + 2], totals[i + 3]);
    for (size_t r = 0; r < n && row + r < p->end; r++)
        for (size_t i = 0; i < m; i++)
            p->c[i * p->ldc + row + r] = (p->start ? p->start[row + r] : 0) + dots[r * m + i];
}

ALWAYS_INLINE void multiply_type(const struct compressed_product *p, enum irrun_dtype dtype,
                                 const struct fixed_layout *layout)
{
    const size_t step = p->m == 1 ? ROWS : ROWS_BY_SEVERAL;
    for (size_t row = p->begin; row < p->end; row += step)
        switch (p->m) {
        case 1:
            multiply_rows(p, dtype, layout, row, ROWS, 1);
            break;
        case 2:
            multiply_rows(p, dtype, layout, row, ROWS_BY_SEVERAL, 2);
            break;
        case 3:
            multiply_rows(p, dtype, layout, row, ROWS_BY_SEVERAL, 3);
            break;
        default:
            multiply_rows(p, dtype, layout, row, ROWS_BY_SEVERAL, 4);
        }
}

/* layout: of x in fixed point; NULL: x are floats. */
ALWAYS_INLINE void multiply_any(const struct compressed_product *p,
                                const struct fixed_layout *layout)
{
    switch (p->matrix->dtype) {
    case IRRUN_U8:
        multiply_type(p, IRRUN_U8, layout);
        break;
    case IRRUN_I8:
        multiply_type(p, IRRUN_I8, layout);
        break;
    case IRRUN_U4:
        multiply_type(p, IRRUN_U4, layout);
        break;
    case IRRUN_I4:
        multiply_type(p, IRRUN_I4, layout);
        break;
    default:
        multiply_type(p, IRRUN_NF4, NULL);
    }
}

static void multiply_floats(const struct compressed_product *p)
{
    multiply_any(p, NULL);
}

#ifdef VECTOR_HAS_DOT_U8
static void multiply_fixed(const struct compressed_product *p)
{
    const struct fixed_layout layout = fixed_layout_of(p->matrix);
    multiply_any(p, &layout);
}

/* Rows of x that are arranged in different ways are multiplied one by one. */
static void multiply(const struct compressed_product *p)
{
    size_t x_row = compressed_row_floats(p->matrix), n_fixed = 0;
    for (size_t i = 0; i < p->m; i++)
        n_fixed += p->x[i * x_row] == ARRANGED_FIXED;
    if (n_fixed == p->m) {
        multiply_fixed(p);
        return;
    }
    if (n_fixed == 0) {
        multiply_floats(p);
        return;
    }
    struct compressed_product one = *p;
    one.m = 1;
    for (size_t i = 0; i < p->m; i++, one.x += x_row, one.c += p->ldc)
        (*one.x == ARRANGED_FIXED ? multiply_fixed : multiply_floats)(&one);
}
#else
#define multiply multiply_floats
#endif

/* Arranges n elements, at most one block. */
ALWAYS_INLINE void arrange_halves(const float *x, size_t n, float factor, float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i % 2 * VECTOR_LANES + i / 2] = i % 2 == 0 ? x[i] : x[i] * factor;
}

static void arrange(const struct compressed_matrix *matrix, const float *x, float *to)
{
    size_t n = matrix->group, padded = group_floats(matrix), i;
#ifdef VECTOR_HAS_DOT_U8
    *to = ARRANGED_FIXED;
    if (is_fixed_possible(matrix) && arrange_fixed(matrix, x, to + COMPRESSED_HEAD))
        return;
#endif
    *to = ARRANGED_FLOATS;
    to += COMPRESSED_HEAD;
    float factor = high_factor(matrix->dtype);
    for (const float *end = x + matrix->k; x < end; x += n, to += padded) {
        if (is_bytes(matrix->dtype)) {
            memcpy(to, x, n * sizeof *x);
            memset(to + n, 0, (padded - n) * sizeof *x);
            continue;
        }
        for (i = 0; i + BLOCK <= n; i += BLOCK)
            arrange_halves(x + i, BLOCK, factor, to + i);
        memset(to + i, 0, (padded - i) * sizeof *x);
        arrange_halves(x + i, n - i, factor, to + i);
    }
}

ALWAYS_INLINE void expand_block(const struct decoder *decoder, enum irrun_dtype dtype, float scale,
                                const unsigned char *at, float *to)
{
    vec values[2];
    decode(decoder, dtype, at, values);
    values[0] = vec_mul(values[0], vec_set1(scale));
    values[1] = vec_mul(values[1], vec_set1(scale * high_factor(dtype)));
    if (!is_bytes(dtype))
        vec_interleave(values[0], values[1], values);
    vec_store(to, values[0]);
    vec_store(to + VECTOR_LANES, values[1]);
}

ALWAYS_INLINE void expand_type(const struct compressed_matrix *matrix, enum irrun_dtype dtype,
                               size_t row, size_t first, size_t n, float *to)
{
    const unsigned char *from = matrix->row + compressed_bytes(matrix, row * matrix->k + first);
    const size_t block_bytes = is_bytes(dtype) ? BLOCK : BLOCK / 2;
    for (size_t end = first + n; first < end;) {
        size_t group = first / matrix->group, left = (group + 1) * matrix->group - first;
        struct decoder decoder = decoder_of(matrix, dtype, row, group);
        float scale = number_of(&matrix->scales, row, group, 1);
        left = left < end - first ? left : end - first;
        first += left;
        for (; left >= BLOCK; left -= BLOCK, from += block_bytes, to += BLOCK)
            expand_block(&decoder, dtype, scale, from, to);
        if (left > 0) {
            unsigned char block[BLOCK] = {0};
            float values[BLOCK];
            memcpy(block, from, compressed_bytes(matrix, left));
            expand_block(&decoder, dtype, scale, block, values);
            memcpy(to, values, left * sizeof *to);
            from += compressed_bytes(matrix, left);
            to += left;
        }
    }
}

static void expand(const struct compressed_matrix *matrix, size_t row, size_t first, size_t n,
                   float *to)
{
    switch (matrix->dtype) {
    case IRRUN_U8:
        expand_type(matrix, IRRUN_U8, row, first, n, to);
        break;
    case IRRUN_I8:
        expand_type(matrix, IRRUN_I8, row, first, n, to);
        break;
    case IRRUN_U4:
        expand_type(matrix, IRRUN_U4, row, first, n, to);
        break;
    case IRRUN_I4:
        expand_type(matrix, IRRUN_I4, row, first, n, to);
        break;
    default:
        expand_type(matrix, IRRUN_NF4, row, first, n, to);
    }
}

const struct compressed_kernels LEVEL_NAME(compressed_gemm, LEVEL) = {arrange, multiply, expand};
