/* Products by compressed matrices, chunk by chunk, as compressed_codes.h decodes them. Chunks at
 * the end of a group have 1 unit per lane. `arrange` puts x into the same order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/compressed_arrange.h"
#include "kernels/compressed_codes.h"
#include "kernels/compressed_columns.h"

enum { LINE_BYTES = 64, MAX_UNIT = sizeof(float) };

/* The elements that are expanded together. */
enum { BLOCK = 2 * VECTOR_LANES };

/* How many rows of the matrix are read at the same time if x has several rows. With one row of x it
 * is 1: memory delivers a single stream twice as fast. */
#if VECTOR_REGISTERS >= 32
enum { ROWS_BY_SEVERAL = 2 };
#else
enum { ROWS_BY_SEVERAL = 1 };
#endif
enum { ROWS = 4, MAX_SUMS = ROWS_BY_SEVERAL * COMPRESSED_MAX_ROWS };

/* The most chains of a sum. An FMA takes 4 cycles, and two begin in each, so that 8 sums should be
 * independent; fewer do where decoding takes longer, and where there are too few registers. */
enum { MAX_CHAINS = 4 };

/* The same group of some rows of the matrix, and of m rows of x. */
struct groups {
    const unsigned char *rows[ROWS];
    const unsigned char *end; /* of the matrix */
    struct decoder decoders[ROWS];
    const float *x;
    size_t x_row; /* floats from one row to the next */
};

/* The sums of a row of the matrix and one of x; the chains take turns. */
struct chains {
    vec chains[MAX_CHAINS];
};

ALWAYS_INLINE size_t n_chains(enum irrun_dtype dtype, size_t n, size_t m)
{
    if (n > 1)
        return 1;
    return m == 1 || (m == 2 && is_bytes(dtype)) ? MAX_CHAINS : MAX_CHAINS / 2;
}

/* Returns an address from which others have constant distances: gcc would otherwise compute each of
 * them from other numbers, which do not fit into the registers. */
ALWAYS_INLINE const float *in_register(const float *at)
{
    __asm__("" : "+r"(at));
    return at;
}

/* Adds the products of a chunk, the bytes from `at` on. Returns the x of the next one. */
ALWAYS_INLINE const float *add_chunk(const struct groups *g, enum irrun_dtype dtype, size_t n,
                                     size_t m, size_t width, size_t at, const float *x,
                                     struct chains *sums)
{
    const size_t n_positions = width * codes_per_unit(dtype);
    const size_t vector_bytes = VECTOR_LANES * unit_bytes(dtype); /* of floats */
    vec_i32 chunks[ROWS];
    const float *rows[COMPRESSED_MAX_ROWS];
    UNROLL
    for (size_t i = 0; i < m; i++)
        rows[i] = in_register(x + i * g->x_row);
    if (!is_float(dtype)) {
        UNROLL
        for (size_t r = 0; r < n; r++)
            chunks[r] = load_chunk(g->rows[r] + at, dtype, width);
    }
    UNROLL
    for (size_t position = 0; position < n_positions; position++) {
        vec factors[COMPRESSED_MAX_ROWS];
        UNROLL
        for (size_t i = 0; i < m; i++)
            factors[i] = vec_load(rows[i] + position * VECTOR_LANES);
        UNROLL
        for (size_t r = 0; r < n; r++) {
            vec values = is_float(dtype)
                             ? load_floats(g->rows[r] + at + position * vector_bytes, dtype)
                             : decode(&g->decoders[r], dtype, chunks[r], position);
            UNROLL
            for (size_t i = 0; i < m; i++) {
                vec *sum = &sums[r * m + i].chains[position % n_chains(dtype, n, m)];
                *sum = vec_fma(factors[i], values, *sum);
            }
        }
    }
    return x + n_positions * VECTOR_LANES;
}

/* Prefetches the lines of a chunk of n_bytes. */
ALWAYS_INLINE void prefetch_rows(const struct groups *g, size_t n, size_t at, size_t n_bytes)
{
    UNROLL
    for (size_t line = 0; line < n_bytes; line += LINE_BYTES) {
        UNROLL
        for (size_t r = 0; r < n; r++)
            prefetch_stream(g->rows[r] + at + line);
    }
}

/* Adds the products of the last elements of a group, fewer than a chunk has. x is padded with
 * zeros, so the codes that follow do no harm; those at the end of the matrix are copied, and all
 * floats, since those that follow may be infinite. */
ALWAYS_INLINE void add_last(const struct groups *g, enum irrun_dtype dtype, size_t n, size_t m,
                            size_t at, size_t n_bytes, const float *x, struct chains *sums)
{
    unsigned char last[ROWS][VECTOR_LANES * MAX_UNIT] = {{0}};
    struct groups copies = *g;
    UNROLL
    for (size_t r = 0; r < n; r++) {
        copies.rows[r] += at;
        if (is_float(dtype) || (size_t)(g->end - copies.rows[r]) < VECTOR_LANES)
            copies.rows[r] = memcpy(last[r], copies.rows[r], n_bytes);
    }
    add_chunk(&copies, dtype, n, m, 1, 0, x, sums);
}

/* Adds the products of a group. If group_bytes is a constant, the compiler unrolls the loops. */
ALWAYS_INLINE void add_group(const struct groups *g, enum irrun_dtype dtype, size_t n, size_t m,
                             size_t group_bytes, bool is_constant, struct chains *sums)
{
    const size_t narrow = VECTOR_LANES * unit_bytes(dtype), wide = WIDE * narrow;
    const float *x = g->x;
    size_t at = 0;
    if (is_constant) {
        prefetch_rows(g, n, 0, LINE_BYTES);
        UNROLL
        for (; at + wide <= group_bytes; at += wide)
            x = add_chunk(g, dtype, n, m, WIDE, at, x, sums);
        UNROLL
        for (; at < group_bytes; at += narrow)
            x = add_chunk(g, dtype, n, m, 1, at, x, sums);
        return;
    }
    for (; at + wide <= group_bytes; at += wide) {
        if (at % LINE_BYTES == 0)
            prefetch_rows(g, n, at, wide);
        x = add_chunk(g, dtype, n, m, WIDE, at, x, sums);
    }
    if (at == group_bytes)
        return;
    prefetch_rows(g, n, at, wide);
    for (; at + narrow <= group_bytes; at += narrow)
        x = add_chunk(g, dtype, n, m, 1, at, x, sums);
    if (at < group_bytes)
        add_last(g, dtype, n, m, at, group_bytes - at, x, sums);
}

ALWAYS_INLINE struct chains no_sums(void)
{
    return (struct chains){{vec_zero(), vec_zero(), vec_zero(), vec_zero()}};
}

ALWAYS_INLINE vec sum_of(const struct chains *sum, size_t n)
{
    if (n == 1)
        return sum->chains[0];
    vec first = vec_add(sum->chains[0], sum->chains[1]);
    return n == 2 ? first : vec_add(first, vec_add(sum->chains[2], sum->chains[3]));
}

/* Computes totals[r * m + i], whose lanes add up to the product of row rows[r] of the matrix and
 * row i of x. constant_bytes: the size of a group, or 0. */
ALWAYS_INLINE void sum_rows(const struct compressed_product *p, enum irrun_dtype dtype,
                            const size_t *rows, const size_t n, const size_t m,
                            const size_t constant_bytes, vec *totals)
{
    static const float one = 1;
    const struct compressed_matrix *matrix = p->matrix;
    const struct group_params *zeros = &matrix->zero_points, *scales = &matrix->scales;
    size_t row_bytes = compressed_bytes(matrix, matrix->k);
    size_t group_bytes =
        constant_bytes > 0 ? constant_bytes : compressed_bytes(matrix, matrix->group);
    size_t n_groups = matrix->k / matrix->group, x_row = compressed_row_floats(matrix);
    size_t x_group = x_row / n_groups, scale_step = scales->data ? scales->group_step : 0;
    bool has_zeros = zeros->data && zeros->group_step > 0;
    struct groups g = {.x = p->x, .x_row = x_row, .end = matrix->row + matrix->n * row_bytes};
    const float *scale[ROWS];
    UNROLL
    for (size_t r = 0; r < n; r++) {
        g.rows[r] = matrix->row + rows[r] * row_bytes;
        g.decoders[r] = decoder_of(matrix, dtype, rows[r], 0);
        scale[r] = scales->data ? (const float *)scales->data + rows[r] * scales->row_step : &one;
    }
    UNROLL
    for (size_t i = 0; i < n * m; i++)
        totals[i] = vec_zero();
    for (size_t group = 0; group < n_groups; group++, g.x += x_group) {
        struct chains sums[MAX_SUMS];
        UNROLL
        for (size_t i = 0; i < n * m; i++)
            sums[i] = no_sums();
        UNROLL
        for (size_t r = 0; r < n && has_zeros; r++)
            g.decoders[r] = decoder_of(matrix, dtype, rows[r], group);
        add_group(&g, dtype, n, m, group_bytes, constant_bytes > 0, sums);
        UNROLL
        for (size_t r = 0; r < n; r++) {
            UNROLL
            for (size_t i = r * m; i < r * m + m; i++)
                totals[i] = vec_fma(sum_of(&sums[i], n_chains(dtype, n, m)), vec_set1(*scale[r]),
                                    totals[i]);
            g.rows[r] += group_bytes;
            scale[r] += scale_step;
        }
    }
}

/* Calls sum_rows, with constants for the usual groups of 4-bit codes: 128, 64 and 32. */
ALWAYS_INLINE void sum_groups(const struct compressed_product *p, enum irrun_dtype dtype,
                              const size_t *rows, const size_t n, const size_t m, vec *totals)
{
    size_t group_bytes = compressed_bytes(p->matrix, p->matrix->group);
    const bool is_small = m == 1 && !is_bytes(dtype) && !is_float(dtype);
    if (!is_float(dtype) && group_bytes == LINE_BYTES)
        sum_rows(p, dtype, rows, n, m, LINE_BYTES, totals);
    else if (is_small && group_bytes == LINE_BYTES / 2)
        sum_rows(p, dtype, rows, n, m, LINE_BYTES / 2, totals);
    else if (is_small && group_bytes == LINE_BYTES / 4)
        sum_rows(p, dtype, rows, n, m, LINE_BYTES / 4, totals);
    else
        sum_rows(p, dtype, rows, n, m, 0, totals);
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
        sum_groups(p, dtype, rows + r, n_beside, m, totals + r * m);
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

ALWAYS_INLINE void multiply_by(const struct compressed_product *p, enum irrun_dtype dtype, size_t m)
{
    const size_t step = m == 1 ? ROWS : ROWS_BY_SEVERAL;
    for (size_t row = p->begin; row < p->end; row += step)
        multiply_rows(p, dtype, row, step, m);
}

ALWAYS_INLINE void expand_block(const struct decoder *decoder, enum irrun_dtype dtype, float scale,
                                const unsigned char *at, float *to)
{
    vec values[2];
    if (is_float(dtype)) {
        values[0] = load_floats(at, dtype);
        values[1] = load_floats(at + VECTOR_LANES * unit_bytes(dtype), dtype);
    } else if (is_bytes(dtype)) {
        values[0] = decode(decoder, dtype, load_chunk(at, dtype, 1), 0);
        values[1] = decode(decoder, dtype, load_chunk(at + VECTOR_LANES, dtype, 1), 0);
    } else {
        vec_i32 chunk = load_chunk(at, dtype, 1);
        values[0] = decode(decoder, dtype, chunk, 0);
        values[1] =
            vec_mul(decode(decoder, dtype, chunk, 1), vec_set1(1 / position_factor(dtype, 1)));
        vec_interleave(values[0], values[1], values);
    }
    values[0] = vec_mul(values[0], vec_set1(scale));
    values[1] = vec_mul(values[1], vec_set1(scale));
    vec_store(to, values[0]);
    vec_store(to + VECTOR_LANES, values[1]);
}

ALWAYS_INLINE void expand_type(const struct compressed_matrix *matrix, enum irrun_dtype dtype,
                               size_t row, size_t first, size_t n, float *to)
{
    const unsigned char *from = matrix->row + compressed_bytes(matrix, row * matrix->k + first);
    const size_t block_bytes = BLOCK * unit_bytes(dtype) / codes_per_unit(dtype);
    for (size_t end = first + n; first < end;) {
        size_t group = first / matrix->group, left = (group + 1) * matrix->group - first;
        struct decoder decoder = decoder_of(matrix, dtype, row, group);
        float scale = param_of(&matrix->scales, row, group, 1);
        left = left < end - first ? left : end - first;
        first += left;
        for (; left >= BLOCK; left -= BLOCK, from += block_bytes, to += BLOCK)
            expand_block(&decoder, dtype, scale, from, to);
        if (left > 0) {
            unsigned char block[BLOCK * MAX_UNIT] = {0};
            float values[BLOCK];
            memcpy(block, from, compressed_bytes(matrix, left));
            expand_block(&decoder, dtype, scale, block, values);
            memcpy(to, values, left * sizeof *to);
            from += compressed_bytes(matrix, left);
            to += left;
        }
    }
}

/* ---- types ---- */

/* One function for each type and each number of rows of x: together they would need too many
 * registers. */
#define MULTIPLY(type, rows)                                                                       \
    __attribute__((noinline)) static void multiply_##type##_##rows(                                \
        const struct compressed_product *p)                                                        \
    {                                                                                              \
        multiply_by(p, IRRUN_##type, rows);                                                        \
    }
#define TYPE(type)                                                                                 \
    MULTIPLY(type, 1)                                                                              \
    MULTIPLY(type, 2)                                                                              \
    MULTIPLY(type, 3)                                                                              \
    MULTIPLY(type, 4)                                                                              \
    static void expand_##type(const struct compressed_matrix *matrix, size_t row, size_t first,    \
                              size_t n, float *to)                                                 \
    {                                                                                              \
        expand_type(matrix, IRRUN_##type, row, first, n, to);                                      \
    }                                                                                              \
    static void expand_columns_##type(const struct compressed_columns *columns)                    \
    {                                                                                              \
        expand_columns_type(columns, IRRUN_##type);                                                \
    }
#define TYPE_ENTRY(type)                                                                           \
    [IRRUN_##type] = {                                                                             \
        {multiply_##type##_1, multiply_##type##_2, multiply_##type##_3, multiply_##type##_4},      \
        expand_##type,                                                                             \
        expand_columns_##type},
/* Types without functions of their own are looked up as NF4 is. */
#ifdef VECTOR_HAS_LOOKUP
#define TYPES(T) T(F32) T(F16) T(BF16) T(U8) T(I8) T(NF4)
#else
#define TYPES(T) T(F32) T(F16) T(BF16) T(U8) T(I8) T(U4) T(I4) T(NF4)
#endif
TYPES(TYPE)

struct type_functions {
    void (*multiply[COMPRESSED_MAX_ROWS])(const struct compressed_product *product);
    void (*expand)(const struct compressed_matrix *matrix, size_t row, size_t first, size_t n,
                   float *to);
    void (*expand_columns)(const struct compressed_columns *columns);
};

static const struct type_functions *functions_of(enum irrun_dtype dtype)
{
    static const struct type_functions functions[IRRUN_N_DTYPES] = {TYPES(TYPE_ENTRY)};
    return &functions[functions[dtype].expand ? dtype : IRRUN_NF4];
}

static void multiply(const struct compressed_product *p)
{
    functions_of(p->matrix->dtype)->multiply[p->m - 1](p);
}

static void expand(const struct compressed_matrix *matrix, size_t row, size_t first, size_t n,
                   float *to)
{
    functions_of(matrix->dtype)->expand(matrix, row, first, n, to);
}

static void expand_columns(const struct compressed_columns *columns)
{
    functions_of(columns->matrix->dtype)->expand_columns(columns);
}

const struct compressed_kernels LEVEL_NAME(compressed_gemm, LEVEL) = {arrange, multiply, expand,
                                                                      expand_columns};
