/* Products of x by compressed matrices in f32: the codes are converted to floats.
 * Included by compressed_gemm_level.c.
 * SPDX-License-Identifier: Apache-2.0 */

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
    struct groups g = {.x = p->x + COMPRESSED_HEAD, .x_row = x_row};
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
        g.x += group_floats(matrix);
    }
}
