/* Multiplies by compressed matrices. compressed_codes.h decodes each group chunk by chunk: wide
 * chunks first, then narrow ones for the rest of the group. `arrange` puts x into the same order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/compressed_arrange.h"
#include "kernels/compressed_codes.h"
#include "kernels/compressed_columns.h"

enum { LINE_BYTES = 64 };

/* The number of matrix rows that are read at the same time if x has several rows. If x has one row,
 * matrix rows are read one by one, because memory delivers a single stream twice as fast. */
#if VECTOR_REGISTERS >= 32
enum { SIMULTANEOUS_ROWS = 2 };
#else
enum { SIMULTANEOUS_ROWS = 1 };
#endif
enum { MAX_SUMS = SIMULTANEOUS_ROWS * COMPRESSED_MAX_ROWS };

/* The number of matrix rows that are multiplied by one row of x before their sums are stored. */
enum { ROWS = COMPRESSED_MAX_ROWS };

/* The maximum number of chains, independent partial sums, per sum. An FMA takes 4 cycles and two
 * start per cycle, so 8 chains would hide the latency; 4 are enough because decoding takes longer,
 * and registers are few. */
enum { MAX_CHAINS = 4 };

/* One scale group of several rows of the matrix and of m rows of x. */
struct groups {
    const unsigned char *rows[SIMULTANEOUS_ROWS];
    const unsigned char *end; /* end of the matrix */
    struct decoder decoders[SIMULTANEOUS_ROWS];
    const float *x;
    size_t x_row; /* floats from one row to the next */
};

/* The partial sums of the product of a matrix row and a row of x; positions of a chunk use the
 * chains in turn. */
struct chains {
    vec chains[MAX_CHAINS];
};

ALWAYS_INLINE size_t n_chains(enum irrun_dtype dtype, size_t n, size_t m)
{
    if (n > 1)
        return 1;
    return m == 1 || (m == 2 && is_bytes(dtype)) ? MAX_CHAINS : MAX_CHAINS / 2;
}

/* Returns `at`, so that gcc addresses neighbouring floats by constant offsets from it. Otherwise
 * gcc would keep many addresses, more than there are registers. */
ALWAYS_INLINE const float *in_register(const float *at)
{
    __asm__("" : "+r"(at));
    return at;
}

/* Adds the products of a chunk of n_positions positions. Returns the address of x for the next
 * chunk. */
ALWAYS_INLINE const float *add_chunk(const struct groups *g, enum irrun_dtype dtype, size_t n,
                                     size_t m, size_t n_positions, const unsigned char *const *from,
                                     size_t at, const float *x, struct chains *sums)
{
    const size_t vector_bytes = VECTOR_LANES * unit_bytes(dtype); /* floats only */
    vec_i32 chunks[SIMULTANEOUS_ROWS];
    const float *rows[COMPRESSED_MAX_ROWS];
    UNROLL
    for (size_t i = 0; i < m; i++)
        rows[i] = in_register(x + i * g->x_row);
    if (!is_float(dtype)) {
        UNROLL
        for (size_t r = 0; r < n; r++)
            chunks[r] = load_chunk(from[r] + at, dtype, n_positions);
    }
    UNROLL
    for (size_t position = 0; position < n_positions; position++) {
        vec x_vectors[COMPRESSED_MAX_ROWS];
        UNROLL
        for (size_t i = 0; i < m; i++)
            x_vectors[i] = vec_load(rows[i] + position * VECTOR_LANES);
        UNROLL
        for (size_t r = 0; r < n; r++) {
            vec values = is_float(dtype)
                             ? load_floats(from[r] + at + position * vector_bytes, dtype)
                             : decode(&g->decoders[r], dtype, chunks[r], position);
            UNROLL
            for (size_t i = 0; i < m; i++) {
                vec *sum = &sums[r * m + i].chains[position % n_chains(dtype, n, m)];
                *sum = vec_fma(x_vectors[i], values, *sum);
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

/* Adds the products of the last chunk of a group, of which n_bytes are left. x is padded with
 * zeros, so reading codes beyond the group does no harm. Codes at the end of the matrix are copied,
 * and floats always, since the next floats may be infinite. */
ALWAYS_INLINE const float *add_last(const struct groups *g, enum irrun_dtype dtype, size_t n,
                                    size_t m, size_t at, size_t n_bytes, const float *x,
                                    struct chains *sums)
{
    const size_t n_positions = chunk_positions(dtype, false),
                 size = chunk_bytes(dtype, n_positions);
    unsigned char last[SIMULTANEOUS_ROWS][COMPRESSED_PAD * sizeof(float)];
    const unsigned char *from[SIMULTANEOUS_ROWS];
    UNROLL
    for (size_t r = 0; r < n; r++) {
        from[r] = g->rows[r] + at;
        size_t readable = is_float(dtype) ? n_bytes : (size_t)(g->end - from[r]);
        if (readable < size) {
            memset(last[r], 0, size);
            from[r] = memcpy(last[r], from[r], n_bytes);
        }
    }
    return add_chunk(g, dtype, n, m, n_positions, from, 0, x, sums);
}

/* Adds the products of a group. If is_constant, group_bytes is a compile-time constant, and the
 * compiler unrolls the loops. */
ALWAYS_INLINE void add_group(const struct groups *g, enum irrun_dtype dtype, size_t n, size_t m,
                             size_t group_bytes, bool is_constant, struct chains *sums)
{
    const size_t wide_positions = chunk_positions(dtype, true),
                 narrow_positions = chunk_positions(dtype, false);
    const size_t wide = chunk_bytes(dtype, wide_positions),
                 narrow = chunk_bytes(dtype, narrow_positions);
    const float *x = g->x;
    size_t at = 0;
    if (is_constant) {
        prefetch_rows(g, n, 0, LINE_BYTES);
        UNROLL
        for (; at + wide <= group_bytes; at += wide)
            x = add_chunk(g, dtype, n, m, wide_positions, g->rows, at, x, sums);
        UNROLL
        for (; at < group_bytes; at += narrow)
            x = add_chunk(g, dtype, n, m, narrow_positions, g->rows, at, x, sums);
        return;
    }
    for (; at + wide <= group_bytes; at += wide) {
        if (at % LINE_BYTES == 0)
            prefetch_rows(g, n, at, wide);
        x = add_chunk(g, dtype, n, m, wide_positions, g->rows, at, x, sums);
    }
    if (at < group_bytes)
        prefetch_rows(g, n, at, wide);
    for (; at < group_bytes; at += narrow)
        x = add_last(g, dtype, n, m, at, group_bytes - at, x, sums);
}

ALWAYS_INLINE struct chains zero_chains(void)
{
    return (struct chains){{vec_zero(), vec_zero(), vec_zero(), vec_zero()}};
}

ALWAYS_INLINE vec add_chains(const struct chains *sum, size_t n)
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
    const float *scale[SIMULTANEOUS_ROWS];
    UNROLL
    for (size_t r = 0; r < n; r++) {
        g.rows[r] = matrix->row + rows[r] * row_bytes;
        g.decoders[r] = make_decoder(matrix, dtype, table, rows[r], 0);
        scale[r] = scales->data ? (const float *)scales->data + rows[r] * scales->row_step : &one;
    }
    UNROLL
    for (size_t i = 0; i < n * m; i++)
        totals[i] = vec_zero();
    for (size_t group = 0; group < n_groups; group++, g.x += x_group) {
        struct chains sums[MAX_SUMS];
        UNROLL
        for (size_t i = 0; i < n * m; i++)
            sums[i] = zero_chains();
        UNROLL
        for (size_t r = 0; r < n && has_zeros; r++)
            g.decoders[r] = make_decoder(matrix, dtype, table, rows[r], group);
        add_group(&g, dtype, n, m, group_bytes, constant_bytes > 0, sums);
        UNROLL
        for (size_t r = 0; r < n; r++) {
            UNROLL
            for (size_t i = r * m; i < r * m + m; i++)
                totals[i] = vec_fma(add_chains(&sums[i], n_chains(dtype, n, m)),
                                    vec_set1(*scale[r]), totals[i]);
            g.rows[r] += group_bytes;
            scale[r] += scale_step;
        }
    }
}

/* Calls sum_rows, with a constant group size for the common groups (128, 64 and 32 4-bit codes)
 * where this saves time. */
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
    const size_t n_at_a_time = m == 1 ? 1 : n;
    size_t rows[ROWS];
    vec totals[MAX_TOTALS];
    float dots[MAX_TOTALS];
    UNROLL
    for (size_t r = 0; r < n; r++)
        rows[r] = row + r < p->end ? row + r : p->end - 1;
    for (size_t r = 0; r < n; r += n_at_a_time)
        sum_groups(p, dtype, table, rows + r, n_at_a_time, m, totals + r * m);
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
    const size_t step = m == 1 ? ROWS : SIMULTANEOUS_ROWS;
    struct value_table table;
    if (has_4_bits(dtype))
        table = make_value_table(p->matrix, 0);
    for (size_t row = p->begin; row < p->end; row += step)
        multiply_rows(p, dtype, &table, row, step, m);
}

/* ---- types ---- */

/* One function for each type and number of rows of x, since a common function would need too many
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
/* The types that decoder_type returns. */
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
    functions[decoder_type(p->matrix)].multiply[p->m - 1](p);
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
    bool is_fixed = is_alone && ((divides_into_chunks(matrix) && convert_row(matrix, x, to)) ||
                                 (has_fixed_bytes(matrix) && convert_bytes_row(matrix, x, to)));
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
    functions[decoder_type(columns->matrix)].expand_columns(columns);
}

const struct compressed_kernels LEVEL_NAME(compressed_gemm, LEVEL) = {arrange, multiply,
                                                                      expand_columns};
