/* Products by compressed matrices, chunk by chunk, as compressed_codes.h decodes them: wide ones,
 * then others at the end of a group. `arrange` puts x into the same order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/compressed_arrange.h"
#include "kernels/compressed_codes.h"
#include "kernels/compressed_columns.h"

enum { LINE_BYTES = 64 };

/* How many rows of the matrix are read at the same time if x has several rows. With one row of x it
 * is 1: memory delivers a single stream twice as fast. */
#if VECTOR_REGISTERS >= 32
enum { ROWS_BY_SEVERAL = 2 };
#else
enum { ROWS_BY_SEVERAL = 1 };
#endif
enum { MAX_SUMS = ROWS_BY_SEVERAL * COMPRESSED_MAX_ROWS };

/* How many rows of the matrix are multiplied by one row of x before their sums are stored. */
enum { ROWS = COMPRESSED_MAX_ROWS };

/* The most chains of a sum. An FMA takes 4 cycles, and two begin in each, so that 8 sums should be
 * independent; fewer do where decoding takes longer, and where there are too few registers. */
enum { MAX_CHAINS = 4 };

/* The same group of some rows of the matrix, and of m rows of x. */
struct groups {
    const unsigned char *rows[ROWS_BY_SEVERAL];
    const unsigned char *end; /* of the matrix */
    struct decoder decoders[ROWS_BY_SEVERAL];
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

/* Adds the products of a chunk of n_of_chunk positions. Returns the x of the next one. */
ALWAYS_INLINE const float *add_chunk(const struct groups *g, enum irrun_dtype dtype, size_t n,
                                     size_t m, size_t n_of_chunk, const unsigned char *const *from,
                                     size_t at, const float *x, struct chains *sums)
{
    const size_t vector_bytes = VECTOR_LANES * unit_bytes(dtype); /* of floats */
    vec_i32 chunks[ROWS_BY_SEVERAL];
    const float *rows[COMPRESSED_MAX_ROWS];
    UNROLL
    for (size_t i = 0; i < m; i++)
        rows[i] = in_register(x + i * g->x_row);
    if (!is_float(dtype)) {
        UNROLL
        for (size_t r = 0; r < n; r++)
            chunks[r] = load_chunk(from[r] + at, dtype, n_of_chunk);
    }
    UNROLL
    for (size_t position = 0; position < n_of_chunk; position++) {
        vec factors[COMPRESSED_MAX_ROWS];
        UNROLL
        for (size_t i = 0; i < m; i++)
            factors[i] = vec_load(rows[i] + position * VECTOR_LANES);
        UNROLL
        for (size_t r = 0; r < n; r++) {
            vec values = is_float(dtype)
                             ? load_floats(from[r] + at + position * vector_bytes, dtype)
                             : decode(&g->decoders[r], dtype, chunks[r], position);
            UNROLL
            for (size_t i = 0; i < m; i++) {
                vec *sum = &sums[r * m + i].chains[position % n_chains(dtype, n, m)];
                *sum = vec_fma(factors[i], values, *sum);
            }
        }
    }
    return x + n_of_chunk * VECTOR_LANES;
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

/* Adds the products of a chunk at the end of a group, of which n_bytes are left. x is padded with
 * zeros, so the codes that follow do no harm; those at the end of the matrix are copied, and all
 * floats, since those that follow may be infinite. */
ALWAYS_INLINE const float *add_last(const struct groups *g, enum irrun_dtype dtype, size_t n,
                                    size_t m, size_t at, size_t n_bytes, const float *x,
                                    struct chains *sums)
{
    const size_t n_of_chunk = n_positions(dtype, false), size = chunk_bytes(dtype, n_of_chunk);
    unsigned char last[ROWS_BY_SEVERAL][COMPRESSED_PAD * sizeof(float)];
    const unsigned char *from[ROWS_BY_SEVERAL];
    UNROLL
    for (size_t r = 0; r < n; r++) {
        from[r] = g->rows[r] + at;
        size_t readable = is_float(dtype) ? n_bytes : (size_t)(g->end - from[r]);
        if (readable < size) {
            memset(last[r], 0, size);
            from[r] = memcpy(last[r], from[r], n_bytes);
        }
    }
    return add_chunk(g, dtype, n, m, n_of_chunk, from, 0, x, sums);
}

/* Adds the products of a group. If group_bytes is a constant, the compiler unrolls the loops. */
ALWAYS_INLINE void add_group(const struct groups *g, enum irrun_dtype dtype, size_t n, size_t m,
                             size_t group_bytes, bool is_constant, struct chains *sums)
{
    const size_t n_of_wide = n_positions(dtype, true), n_of_narrow = n_positions(dtype, false);
    const size_t wide = chunk_bytes(dtype, n_of_wide), narrow = chunk_bytes(dtype, n_of_narrow);
    const float *x = g->x;
    size_t at = 0;
    if (is_constant) {
        prefetch_rows(g, n, 0, LINE_BYTES);
        UNROLL
        for (; at + wide <= group_bytes; at += wide)
            x = add_chunk(g, dtype, n, m, n_of_wide, g->rows, at, x, sums);
        UNROLL
        for (; at < group_bytes; at += narrow)
            x = add_chunk(g, dtype, n, m, n_of_narrow, g->rows, at, x, sums);
        return;
    }
    for (; at + wide <= group_bytes; at += wide) {
        if (at % LINE_BYTES == 0)
            prefetch_rows(g, n, at, wide);
        x = add_chunk(g, dtype, n, m, n_of_wide, g->rows, at, x, sums);
    }
    if (at < group_bytes)
        prefetch_rows(g, n, at, wide);
    for (; at < group_bytes; at += narrow)
        x = add_last(g, dtype, n, m, at, group_bytes - at, x, sums);
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
                            const struct value_table *table, const size_t *rows, const size_t n,
                            const size_t m, const size_t constant_bytes, vec *totals)
{
    static const float one = 1;
    const struct compressed_matrix *matrix = p->matrix;
    const struct group_params *zeros = &matrix->zero_points, *scales = &matrix->scales;
    size_t row_bytes = compressed_bytes(matrix, matrix->k);
    size_t group_bytes =
        constant_bytes > 0 ? constant_bytes : compressed_bytes(matrix, matrix->group);
    size_t n_groups = matrix->k / matrix->group, x_row = compressed_row_floats(matrix);
    size_t x_group = compressed_group_floats(matrix),
           scale_step = scales->data ? scales->group_step : 0;
    bool has_zeros = zeros->data && zeros->group_step > 0;
    struct groups g = {.x = p->x, .x_row = x_row, .end = matrix->row + matrix->n * row_bytes};
    const float *scale[ROWS_BY_SEVERAL];
    UNROLL
    for (size_t r = 0; r < n; r++) {
        g.rows[r] = matrix->row + rows[r] * row_bytes;
        g.decoders[r] = decoder_of(matrix, dtype, table, rows[r], 0);
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
            g.decoders[r] = decoder_of(matrix, dtype, table, rows[r], group);
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

/* Calls sum_rows, with constants for the usual groups of 4-bit codes, 128, 64 and 32, where they
 * save time. */
ALWAYS_INLINE void sum_groups(const struct compressed_product *p, enum irrun_dtype dtype,
                              const struct value_table *table, const size_t *rows, const size_t n,
                              const size_t m, vec *totals)
{
    size_t group_bytes = compressed_bytes(p->matrix, p->matrix->group);
#ifdef VECTOR_HAS_BYTE_LOOKUP
    const bool is_usual = dtype == IRRUN_U4 || (is_bytes(dtype) && m == 1);
#else
    const bool is_usual = !is_float(dtype);
#endif
    const bool is_small = is_usual && m == 1 && has_4_bits(dtype);
    if (is_usual && group_bytes == LINE_BYTES)
        sum_rows(p, dtype, table, rows, n, m, LINE_BYTES, totals);
    else if (is_small && group_bytes == LINE_BYTES / 2)
        sum_rows(p, dtype, table, rows, n, m, LINE_BYTES / 2, totals);
    else if (is_small && group_bytes == LINE_BYTES / 4)
        sum_rows(p, dtype, table, rows, n, m, LINE_BYTES / 4, totals);
    else
        sum_rows(p, dtype, table, rows, n, m, 0, totals);
}

/* Multiplies n rows of the matrix, from `row` on, by m rows of x. Rows from p->end on are replaced
 * by the last row and not stored. */
ALWAYS_INLINE void multiply_rows(const struct compressed_product *p, enum irrun_dtype dtype,
                                 const struct value_table *table, size_t row, const size_t n,
                                 const size_t m)
{
    enum { MAX_TOTALS = MAX_SUMS + 3 };
    const size_t n_beside = m == 1 ? 1 : n;
    size_t rows[ROWS];
    vec totals[MAX_TOTALS];
    float dots[MAX_TOTALS];
    UNROLL
    for (size_t r = 0; r < n; r++)
        rows[r] = row + r < p->end ? row + r : p->end - 1;
    for (size_t r = 0; r < n; r += n_beside)
        sum_groups(p, dtype, table, rows + r, n_beside, m, totals + r * m);
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
    struct value_table table;
    if (has_4_bits(dtype))
        table = table_of(p->matrix, 0);
    for (size_t row = p->begin; row < p->end; row += step)
        multiply_rows(p, dtype, &table, row, step, m);
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
    static void expand_columns_##type(const struct compressed_columns *columns)                    \
    {                                                                                              \
        expand_columns_type(columns, IRRUN_##type);                                                \
    }
#define TYPE_ENTRY(type)                                                                           \
    [IRRUN_##type] = {                                                                             \
        {multiply_##type##_1, multiply_##type##_2, multiply_##type##_3, multiply_##type##_4},      \
        expand_columns_##type},
/* The types that decoded_as returns. */
#ifdef VECTOR_HAS_BYTE_LOOKUP
#define TYPES(T) T(F32) T(F16) T(BF16) T(U8) T(U4) T(NF4)
#else
#define TYPES(T) T(F32) T(F16) T(BF16) T(U8) T(NF4)
#endif
TYPES(TYPE)

struct type_functions {
    void (*multiply[COMPRESSED_MAX_ROWS])(const struct compressed_product *product);
    void (*expand_columns)(const struct compressed_columns *columns);
};
static const struct type_functions functions[IRRUN_N_DTYPES] = {TYPES(TYPE_ENTRY)};

static void multiply_floats(const struct compressed_product *p)
{
    functions[decoded_as(p->matrix)].multiply[p->m - 1](p);
}

#ifdef VECTOR_HAS_DOT_U8
#include "kernels/compressed_byte_digits.h"

/* Returns the index of the float of an arranged row that is 1 if it is in fixed point, otherwise
 * 0. */
static size_t flag_at(const struct compressed_matrix *matrix)
{
    return compressed_row_floats(matrix) - 1;
}

static void arrange(const struct compressed_matrix *matrix, bool is_alone, const float *x,
                    float *to)
{
    bool is_fixed = is_alone && ((has_chunks(matrix) && fix_row(matrix, x, to)) ||
                                 (has_fixed_bytes(matrix) && fix_bytes_row(matrix, x, to)));
    to[flag_at(matrix)] = is_fixed;
    if (!is_fixed)
        arrange_floats(matrix, is_alone, x, to);
}

static void multiply(const struct compressed_product *p)
{
    if (p->x[flag_at(p->matrix)] == 0)
        multiply_floats(p);
    else if (is_bytes(p->matrix->dtype))
        multiply_fixed_bytes(p);
    else
        multiply_chunks(p);
}
#else
#define arrange arrange_floats
#define multiply multiply_floats
#endif

static void expand_columns(const struct compressed_columns *columns)
{
    functions[decoded_as(columns->matrix)].expand_columns(columns);
}

const struct compressed_kernels LEVEL_NAME(compressed_gemm, LEVEL) = {arrange, multiply,
                                                                      expand_columns};
