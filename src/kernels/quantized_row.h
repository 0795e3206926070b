/* Multiplies a few rows of x by a matrix with dynamic quantization. Reads the matrix in place, as
 * one stream of blocks; each lane of a vector gets the sum of one block. Each loaded vector is
 * multiplied by all rows of x.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_QUANTIZED_ROW_H
#define IRRUN_KERNELS_QUANTIZED_ROW_H

#include "kernels/compressed_codes.h"
#include "kernels/quantized_gemm.h"

/* A quantized row of x. Its first blocks are repeated after the last block, so that a vector of
 * blocks may begin at any block. */
struct x_row {
    size_t n_blocks, blocks_per_group, block_bytes;
    int32_t *dots;      /* dot products with the blocks of QUANTIZED_IN_PLACE_ROWS matrix rows */
    int32_t *sums;      /* sum of codes per block */
    float *scales;      /* scale per block */
    int8_t *even, *odd; /* codes; for 4-bit matrices, of even and of odd elements */
    size_t bytes;       /* bytes from the arrays of one row to those of the next */
};

/* Places the arrays of row i of x in p->panel, and fills all except `dots`. */
static struct x_row prepare_x_row(const struct quantized_product *p, size_t i)
{
    const struct quantized_blocks blocks = quantized_blocks_of(p->matrix);
    const struct quantized_block *x_blocks = p->blocks + i * blocks.n;
    const size_t n = blocks.n + QUANTIZED_IN_PLACE_ROWS, x_bytes = blocks.max_quads * INT8_QUAD;
    const bool is_4bit = quantized_is_4bit(p->matrix);
    struct x_row s = {.n_blocks = blocks.n,
                      .blocks_per_group = blocks.blocks_per_group,
                      .block_bytes = compressed_bytes(p->matrix, blocks.max_elements),
                      .bytes = quantized_row_bytes(p->matrix)};
    s.dots = (void *)((char *)p->panel + i * s.bytes);
    s.sums = s.dots + QUANTIZED_IN_PLACE_ROWS * blocks.n;
    s.scales = (float *)(s.sums + n);
    s.even = (int8_t *)(s.scales + n);
    s.odd = s.even + n * s.block_bytes;
    for (size_t block = 0; block < n; block++) {
        const uint8_t *codes = p->codes + (i * blocks.n + block % blocks.n) * x_bytes;
        int8_t *even = s.even + block * s.block_bytes, *odd = s.odd + block * s.block_bytes;
        s.sums[block] = x_blocks[block % blocks.n].sum;
        s.scales[block] = x_blocks[block % blocks.n].scale;
        for (size_t at = 0; at < s.block_bytes; at += INT8_QUAD) {
            uint32_t quads[2];
            memcpy(quads, codes + (is_4bit ? 2 * at : at),
                   is_4bit ? sizeof quads : sizeof quads[0]);
            quads[0] ^= 0x80808080;
            memcpy(even + at, &quads[0], sizeof quads[0]);
            if (is_4bit) {
                quads[1] ^= 0x80808080;
                memcpy(odd + at, &quads[1], sizeof quads[1]);
            }
        }
    }
    return s;
}

/* Codes of the matrix as an operand of dot products. With VECTOR_HAS_DOT_PAIRS, 8-bit codes are
 * signed: the sum of two products of a magnitude, at most 128, and a code of x, at most 127, fits
 * into 16 bits. All other codes are unsigned. */
#if VECTOR_HAS_DOT_PAIRS
enum { MAX_X_ROWS = 4, BYTES_ARE_SIGNED = 1 };
struct codes_operand {
    vec_i32 magnitudes, codes;
};
ALWAYS_INLINE struct codes_operand codes_operand(vec_i32 codes, const bool is_4bit)
{
    return (struct codes_operand){is_4bit ? codes : vec_i8_abs(codes), codes};
}
/* Returns the dot products, per lane, of n vectors `low` with `even` and, for 4-bit codes, `high`
 * with `odd`. The largest block, 128 4-bit codes, has at most four vectors. Each vector adds four
 * products to a 16-bit sum, which is at most 16 * 15 * 127 < 2^15. */
ALWAYS_INLINE vec_i32 dot_codes(const struct codes_operand *low, const struct codes_operand *high,
                                const int8_t *even, const int8_t *odd, size_t n, const bool is_4bit)
{
    vec_i32 sum = {0};
    vec_i16 pairs = {0};
    UNROLL
    for (size_t j = 0; j < n; j++, even += sizeof(vec), odd += sizeof(vec)) {
        vec_i32 x = vec_i32_load(even);
        if (!is_4bit) {
            sum = vec_i32_dot_pairs(sum, low[j].magnitudes, vec_i8_with_sign_of(x, low[j].codes));
            continue;
        }
        pairs += (vec_i16)MM(maddubs_epi16)((bits)low[j].codes, (bits)x);
        pairs += (vec_i16)MM(maddubs_epi16)((bits)high[j].codes, (bits)vec_i32_load(odd));
    }
    return is_4bit ? vec_i32_dot_i16(sum, (vec_i32)pairs, (vec_i32)((vec_i16){0} + 1)) : sum;
}
#else
enum { MAX_X_ROWS = 2, BYTES_ARE_SIGNED = 0 };
#define codes_operand bytes_operand
ALWAYS_INLINE struct bytes_operand codes_operand(vec_i32 codes, const bool is_4bit)
{
    (void)is_4bit;
    return unsigned_operand(codes);
}
ALWAYS_INLINE vec_i32 dot_codes(const struct codes_operand *low, const struct codes_operand *high,
                                const int8_t *even, const int8_t *odd, size_t n, const bool is_4bit)
{
    vec_i32 sum = {0};
    UNROLL
    for (size_t j = 0; j < n; j++, even += sizeof(vec), odd += sizeof(vec)) {
        sum = vec_i32_dot_bytes(sum, low[j], signed_operand(vec_i32_load(even)));
        if (is_4bit)
            sum = vec_i32_dot_bytes(sum, high[j], signed_operand(vec_i32_load(odd)));
    }
    return sum;
}
#endif

/* Returns the number that XOR with flip_bits adds to codes. */
static float flip_offset(enum irrun_dtype dtype, const bool bytes_are_signed)
{
    return unsigned_offset(dtype) - (bytes_are_signed && is_bytes(dtype) ? 128 : 0);
}

/* Adds neighbouring lanes of n vectors until each lane holds the sum of a block. */
#if defined(MM) && VECTOR_LANES == 8
ALWAYS_INLINE vec add_lanes(vec *sums, size_t n)
{
    /* First add within 128-bit halves, two vectors at a time. */
    UNROLL
    for (size_t size = n; size > n / 4; size /= 2) {
        UNROLL
        for (size_t i = 0; i < size; i += 2) {
            vec even = _mm256_shuffle_ps(sums[i], sums[i + 1], 0x88);
            vec odd = _mm256_shuffle_ps(sums[i], sums[i + 1], 0xDD);
            sums[i / 2] = (vec)((vec_i32)even + (vec_i32)odd);
        }
    }
    if (n < VECTOR_LANES) /* each vector held two blocks, one per half */
        return _mm256_permutevar8x32_ps(sums[0], _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    return (vec)((vec_i32)_mm256_permute2f128_ps(sums[0], sums[1], 0x20) +
                 (vec_i32)_mm256_permute2f128_ps(sums[0], sums[1], 0x31));
}
#else
ALWAYS_INLINE vec add_lanes(vec *sums, size_t n)
{
    UNROLL
    for (size_t size = n; size > 1; size /= 2) {
        UNROLL
        for (size_t i = 0; i < size; i += 2)
            sums[i / 2] = (vec)((vec_i32)vec_even(sums[i], sums[i + 1]) +
                                (vec_i32)vec_odd(sums[i], sums[i + 1]));
    }
    return sums[0];
}
#endif

/* Multiplies VECTOR_LANES blocks of the matrix by the blocks, from `block` on, of m rows of x.
 * Stores the dot products in s[r].dots, from index `to` on. block_bytes is a power of two, at least
 * 16. */
ALWAYS_INLINE void dot_blocks(const struct x_row *s, size_t m, const unsigned char *at,
                              size_t block, vec_i32 flip, const bool is_4bit,
                              const size_t block_bytes, size_t to)
{
    enum { MAX_VECTORS = QUANTIZED_BLOCK > sizeof(vec) ? QUANTIZED_BLOCK / sizeof(vec) : 1 };
    enum { PREFETCHED = 64 };
    const size_t n =
        block_bytes / WIDE_UNITS < VECTOR_LANES ? block_bytes / WIDE_UNITS : VECTOR_LANES;
    const size_t vectors_per_block = block_bytes > sizeof(vec) ? block_bytes / sizeof(vec) : 1;
    vec sums[MAX_X_ROWS][VECTOR_LANES];
    UNROLL
    for (size_t i = 0; i < n; i++) {
        struct codes_operand low[MAX_VECTORS], high[MAX_VECTORS];
        UNROLL
        for (size_t j = 0; j < vectors_per_block; j++) {
            const unsigned char *from = at + (i * vectors_per_block + j) * sizeof(vec);
            vec_i32 codes = vec_i32_load(from) ^ flip;
            if ((size_t)(from - at) % PREFETCHED == 0)
                prefetch_stream(from);
            low[j] = codes_operand(is_4bit ? codes & 0x0F0F0F0F : codes, is_4bit);
            if (is_4bit)
                high[j] = codes_operand((vec_i32)((vec_u32)codes >> 4) & 0x0F0F0F0F, true);
        }
        const size_t byte = block * block_bytes + i * vectors_per_block * sizeof(vec);
        const int8_t *even = s->even + byte, *odd = s->odd + byte;
        for (size_t r = 0; r < m; r++, even += s->bytes, odd += s->bytes)
            sums[r][i] = (vec)dot_codes(low, high, even, odd, vectors_per_block, is_4bit);
    }
    for (size_t r = 0; r < m; r++)
        vec_store(s[r].dots + to, add_lanes(sums[r], n));
}

/* Computes the dot products of all blocks of m rows of x and n_rows matrix rows. Elements of `dots`
 * after the last block are undefined. */
ALWAYS_INLINE void dot_rows(const struct quantized_product *p, const struct x_row *s, size_t m,
                            size_t row, size_t n_rows, const bool is_4bit, const size_t block_bytes)
{
    enum { MAX_BYTES = VECTOR_LANES * QUANTIZED_BLOCK };
    const struct compressed_matrix *matrix = p->matrix;
    const size_t n_bytes = VECTOR_LANES * block_bytes, n = n_rows * s->n_blocks;
    const vec_i32 flip = flip_bits(matrix->dtype, BYTES_ARE_SIGNED);
    const unsigned char *at = matrix->row + row * s->n_blocks * block_bytes;
    const unsigned char *end = matrix->row + matrix->n * s->n_blocks * block_bytes;
    for (size_t i = 0, block = 0; i < n; i += VECTOR_LANES, at += n_bytes) {
        unsigned char last[MAX_BYTES];
        const unsigned char *from = at;
        if ((size_t)(end - at) < n_bytes) {
            memset(last, 0, n_bytes);
            from = memcpy(last, at, (size_t)(end - at));
        }
        dot_blocks(s, m, from, block, flip, is_4bit, block_bytes, i);
        for (block += VECTOR_LANES; block >= s->n_blocks;)
            block -= s->n_blocks;
    }
}

/* Returns the scales or zero points of n blocks of a row, at most VECTOR_LANES. */
ALWAYS_INLINE vec load_block_params(const struct group_params *params, size_t row, size_t block,
                                    size_t blocks_per_group, size_t n, float none)
{
    float numbers[VECTOR_LANES] = {0};
    if (!params->data || params->group_step == 0)
        return vec_set1(param_of(params, row, 0, none));
    if (params->dtype == IRRUN_F32 && params->group_step == 1 && blocks_per_group == 1)
        return vec_load_n((const float *)params->data + row * params->row_step + block, n);
    size_t group = block / blocks_per_group;
    if (block + n <= (group + 1) * blocks_per_group)
        return vec_set1(param_of(params, row, group, none));
    for (size_t i = 0; i < n; i++)
        numbers[i] = param_of(params, row, (block + i) / blocks_per_group, none);
    return vec_load(numbers);
}

/* Scales and adds the dot products of a matrix row and m rows of x, in the order of the blocks. at:
 * the index of the first dot product. */
ALWAYS_INLINE void add_blocks(const struct quantized_product *p, const struct x_row *s,
                              const size_t m, size_t row, size_t at)
{
    const struct compressed_matrix *matrix = p->matrix;
    const size_t n_blocks = s->n_blocks, blocks_per_group = s->blocks_per_group;
    const float offset = flip_offset(matrix->dtype, BYTES_ARE_SIGNED);
    const float start = p->start ? p->start[row] : 0;
    float sums[MAX_X_ROWS];
    UNROLL
    for (size_t i = 0; i < m; i++)
        sums[i] = start;
    for (size_t block = 0; block < n_blocks; block += VECTOR_LANES) {
        size_t left = n_blocks - block, n = left < VECTOR_LANES ? left : VECTOR_LANES;
        float terms[MAX_X_ROWS][VECTOR_LANES];
        vec scale = load_block_params(&matrix->scales, row, block, blocks_per_group, n, 1);
        vec zero = load_block_params(&matrix->zero_points, row, block, blocks_per_group, n, 0);
        vec_u32 zeros = (vec_u32)vec_round_to_i32(vec_add(zero, vec_set1(offset)));
        UNROLL
        for (size_t i = 0; i < m; i++) {
            vec_u32 dot = (vec_u32)vec_load_n(s[i].dots + at + block, n);
            dot -= zeros * (vec_u32)vec_load(s[i].sums + block);
            vec term = vec_mul(vec_of_i32((vec_i32)dot), scale);
            vec_store(terms[i], vec_mul(term, vec_load(s[i].scales + block)));
        }
        for (size_t lane = 0; lane < n; lane++) {
            UNROLL
            for (size_t i = 0; i < m; i++)
                sums[i] += terms[i][lane];
        }
    }
    UNROLL
    for (size_t i = 0; i < m; i++)
        p->c[i * p->ldc + row] = sums[i];
}

/* Multiplies n matrix rows, from `row` on, by m rows of x. */
ALWAYS_INLINE void multiply_slice(const struct quantized_product *p, const struct x_row *s,
                                  size_t m, size_t row, size_t n)
{
    const bool is_4bit = quantized_is_4bit(p->matrix);
#define DOT_ROWS(bytes)                                                                            \
    if (s->block_bytes == (bytes) && is_4bit)                                                      \
        dot_rows(p, s, m, row, n, true, bytes);                                                    \
    else if (s->block_bytes == (bytes))                                                            \
        dot_rows(p, s, m, row, n, false, bytes);
    DOT_ROWS(16)
    DOT_ROWS(32)
    DOT_ROWS(64)
    DOT_ROWS(128)
#undef DOT_ROWS
    for (size_t r = 0; r < n; r++) {
#define ADD_BLOCKS(x_rows)                                                                         \
    if ((x_rows) <= MAX_X_ROWS && m == (x_rows))                                                   \
        add_blocks(p, s, x_rows, row + r, r * s->n_blocks);
        ADD_BLOCKS(1)
        ADD_BLOCKS(2)
        ADD_BLOCKS(3)
        ADD_BLOCKS(4)
#undef ADD_BLOCKS
    }
}

static inline void multiply_rows(const struct quantized_product *p)
{
    struct x_row rows[MAX_X_ROWS];
    for (size_t i = 0; i < p->m; i++)
        rows[i] = prepare_x_row(p, i);
    for (size_t row = p->begin, n; row < p->end; row += n) {
        n = p->end - row < QUANTIZED_IN_PLACE_ROWS ? p->end - row : QUANTIZED_IN_PLACE_ROWS;
        if (p->m == 1)
            multiply_slice(p, rows, 1, row, n);
        else
            multiply_slice(p, rows, p->m, row, n);
    }
}

#endif
