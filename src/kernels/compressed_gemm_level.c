/* Products by compressed matrices. Elements are decoded in blocks of two vectors. Those of 8 bits
 * are in order; of those of 4 bits, elements with even numbers (the low halves of the bytes) come
 * first. `arrange` puts x into the same order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/compressed_gemm.h"
#include "kernels/vector_integer.h"

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

/* An integer in the low bits of the float 2^23 gives their sum, without a conversion. */
#define BITS_2_23 0x4B000000
#define FLOAT_2_23 0x1p23F

/* Converts the codes of a group to values. */
struct decoder {
    vec_i32 bits; /* of 2^23, combined with the bit that makes a signed integer unsigned */
    vec zeros[2]; /* to subtract, for each half of a byte; for a table: the zero point */
    vec table;    /* of 16 values less the zero point, if there is vec_lookup */
    const float *values;
};

ALWAYS_INLINE struct decoder decoder_of(const struct compressed_matrix *matrix,
                                        enum irrun_dtype dtype, size_t row, size_t group)
{
    float zero = number_of(&matrix->zero_points, row, group, 0);
    int32_t sign = dtype == IRRUN_I8 ? 128 : dtype == IRRUN_I4 ? 8 : 0;
    struct decoder decoder = {.bits = vec_i32_set1(BITS_2_23 + sign), .values = matrix->values};
    if (is_table(dtype)) {
        decoder.zeros[0] = vec_set1(zero);
        decoder.table = vec_zero();
#ifdef VECTOR_HAS_LOOKUP
        decoder.table = vec_sub(vec_load(matrix->values), decoder.zeros[0]);
#endif
        return decoder;
    }
    zero += (float)sign;
    decoder.zeros[0] = vec_set1(FLOAT_2_23 + zero);
    decoder.zeros[1] = vec_set1(FLOAT_2_23 + 16 * zero);
    return decoder;
}

/* Returns the values of the codes in the low 4 bits of every lane. */
ALWAYS_INLINE vec look_up(const struct decoder *decoder, vec_i32 codes)
{
#ifdef VECTOR_HAS_LOOKUP
    return vec_lookup(decoder->table, codes);
#else
    int32_t lanes[VECTOR_LANES];
    float values[VECTOR_LANES];
    memcpy(lanes, &codes, sizeof lanes);
    UNROLL
    for (size_t i = 0; i < VECTOR_LANES; i++)
        values[i] = decoder->values[lanes[i] & 15];
    return vec_sub(vec_load(values), decoder->zeros[0]);
#endif
}

ALWAYS_INLINE vec value_of(const struct decoder *decoder, vec_i32 integers, size_t half)
{
    return vec_sub((vec)(integers ^ decoder->bits), decoder->zeros[half]);
}

/* Decodes a block. Values from high halves are divided by high_factor. */
ALWAYS_INLINE void decode(const struct decoder *decoder, enum irrun_dtype dtype,
                          const unsigned char *at, vec values[2])
{
    vec_i32 bytes = vec_i32_load_u8(at);
    if (is_bytes(dtype)) {
        values[0] = value_of(decoder, bytes, 0);
        values[1] = value_of(decoder, vec_i32_load_u8(at + VECTOR_LANES), 0);
    } else if (is_table(dtype)) {
        values[0] = look_up(decoder, bytes);
        values[1] = look_up(decoder, bytes >> 4);
    } else {
        struct decoder high = *decoder;
        if (dtype == IRRUN_I4)
            high.bits = vec_i32_set1(BITS_2_23 + 16 * 8);
        values[0] = value_of(decoder, bytes & 15, 0);
        values[1] = value_of(&high, bytes & 0xF0, 1);
    }
}

/* The same group of some rows of the matrix, and of m rows of x. */
struct groups {
    const unsigned char *rows[ROWS];
    struct decoder decoders[ROWS];
    const float *x;
    size_t x_row; /* floats from one row to the next */
};

ALWAYS_INLINE void add_block(const struct groups *g, enum irrun_dtype dtype, size_t n, size_t m,
                             size_t skip_bytes, size_t first, vec sums[][2])
{
    vec x[COMPRESSED_MAX_ROWS][2];
    UNROLL
    for (size_t i = 0; i < m; i++) {
        x[i][0] = vec_load(g->x + i * g->x_row + first);
        x[i][1] = vec_load(g->x + i * g->x_row + first + VECTOR_LANES);
    }
    UNROLL
    for (size_t r = 0; r < n; r++) {
        vec values[2];
        decode(&g->decoders[r], dtype, g->rows[r] + skip_bytes, values);
        UNROLL
        for (size_t i = 0; i < m; i++) {
            vec *sum = sums[r * m + i];
            sum[0] = vec_fma(x[i][0], values[0], sum[0]);
            sum[m == 1] = vec_fma(x[i][1], values[1], sum[m == 1]);
        }
    }
}

/* Adds the products of the whole blocks of a group, and then of a copy of the remaining elements; x
 * is padded with zeros. */
ALWAYS_INLINE void add_group(const struct groups *g, enum irrun_dtype dtype, size_t n, size_t m,
                             size_t group_bytes, vec sums[][2])
{
    const size_t block_bytes = is_bytes(dtype) ? BLOCK : BLOCK / 2;
    unsigned char last[ROWS][BLOCK];
    struct groups now = *g;
    size_t rest = group_bytes % block_bytes, end = group_bytes - rest, first = 0;
    for (;;) {
        for (size_t at = 0; at < end; at += block_bytes, first += BLOCK) {
            if (!is_bytes(dtype) && m == 1 && at % LINE_BYTES == 0)
                __builtin_prefetch((const void *)((uintptr_t)now.rows[0] + at + BYTES_AHEAD));
            add_block(&now, dtype, n, m, at, first, sums);
        }
        if (rest == 0)
            return;
        UNROLL
        for (size_t r = 0; r < n; r++) {
            memset(last[r], 0, BLOCK);
            memcpy(last[r], g->rows[r] + group_bytes - rest, rest);
            now.rows[r] = last[r];
        }
        end = block_bytes;
        rest = 0;
    }
}

/* Computes totals[r * m + i], whose lanes add up to the product of row rows[r] of the matrix and
 * row i of x. */
ALWAYS_INLINE void sum_rows(const struct compressed_product *p, enum irrun_dtype dtype,
                            const size_t *rows, const size_t n, const size_t m, vec *totals)
{
    const struct compressed_matrix *matrix = p->matrix;
    size_t row_bytes = compressed_bytes(matrix, matrix->k);
    size_t group_bytes = compressed_bytes(matrix, matrix->group);
    size_t n_groups = matrix->k / matrix->group, x_row = compressed_row_floats(matrix);
    struct groups g = {.x = p->x, .x_row = x_row};
    UNROLL
    for (size_t r = 0; r < n; r++)
        g.rows[r] = matrix->row + rows[r] * row_bytes;
    UNROLL
    for (size_t i = 0; i < n * m; i++)
        totals[i] = vec_zero();
    for (size_t group = 0; group < n_groups; group++) {
        vec sums[MAX_SUMS][2];
        UNROLL
        for (size_t i = 0; i < n * m; i++)
            sums[i][0] = sums[i][1] = vec_zero();
        UNROLL
        for (size_t r = 0; r < n; r++)
            g.decoders[r] = decoder_of(matrix, dtype, rows[r], group);
        add_group(&g, dtype, n, m, group_bytes, sums);
        UNROLL
        for (size_t r = 0; r < n; r++) {
            vec scale = vec_set1(number_of(&matrix->scales, rows[r], group, 1));
            g.rows[r] += group_bytes;
            UNROLL
            for (size_t i = r * m; i < r * m + m; i++)
                totals[i] = vec_fma(m == 1 ? vec_add(sums[i][0], sums[i][1]) : sums[i][0], scale,
                                    totals[i]);
        }
        g.x += x_row / n_groups;
    }
}

/* Multiplies n rows of the matrix, from `row` on, by m rows of x. Rows from p->end on are replaced
 * by the last row and not stored. */
ALWAYS_INLINE void multiply_rows(const struct compressed_product *p, enum irrun_dtype dtype,
                                 size_t row, const size_t n, const size_t m)
{
    enum { MAX_TOTALS = (MAX_SUMS > ROWS ? MAX_SUMS : ROWS) + 3 };
    const size_t n_beside = m == 1 ? 1 : n;
    size_t rows[ROWS];
    vec totals[MAX_TOTALS];
    float dots[MAX_TOTALS];
    UNROLL
    for (size_t r = 0; r < n; r++)
        rows[r] = row + r < p->end ? row + r : p->end - 1;
    for (size_t r = 0; r < n; r += n_beside)
        sum_rows(p, dtype, rows + r, n_beside, m, totals + r * m);
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

ALWAYS_INLINE void multiply_type(const struct compressed_product *p, enum irrun_dtype dtype)
{
    const size_t step = p->m == 1 ? ROWS : ROWS_BY_SEVERAL;
    for (size_t row = p->begin; row < p->end; row += step)
        switch (p->m) {
        case 1:
            multiply_rows(p, dtype, row, ROWS, 1);
            break;
        case 2:
            multiply_rows(p, dtype, row, ROWS_BY_SEVERAL, 2);
            break;
        case 3:
            multiply_rows(p, dtype, row, ROWS_BY_SEVERAL, 3);
            break;
        default:
            multiply_rows(p, dtype, row, ROWS_BY_SEVERAL, 4);
        }
}

static void multiply(const struct compressed_product *p)
{
    switch (p->matrix->dtype) {
    case IRRUN_U8:
        multiply_type(p, IRRUN_U8);
        break;
    case IRRUN_I8:
        multiply_type(p, IRRUN_I8);
        break;
    case IRRUN_U4:
        multiply_type(p, IRRUN_U4);
        break;
    case IRRUN_I4:
        multiply_type(p, IRRUN_I4);
        break;
    default:
        multiply_type(p, IRRUN_NF4);
    }
}

/* Arranges n elements, at most one block. */
ALWAYS_INLINE void arrange_halves(const float *x, size_t n, float factor, float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i % 2 * VECTOR_LANES + i / 2] = i % 2 == 0 ? x[i] : x[i] * factor;
}

static void arrange(const struct compressed_matrix *matrix, const float *x, float *to)
{
    size_t n = matrix->group, n_groups = matrix->k / n, i;
    size_t padded = compressed_row_floats(matrix) / n_groups;
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
