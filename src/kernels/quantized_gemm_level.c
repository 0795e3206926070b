/* The kernels of quantized_gemm.h, compiled for each CPU level: quantize f32 rows to bytes, pack
 * the matrix for integer dot products, and scale and add the sums.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/quantized_gemm.h"

#include "kernels/compressed_columns.h"
#include "kernels/quantized_row.h"

enum { CODE_ZERO = 128, INFINITY_BITS = 0x7F800000 };
#define MIN_MAGNITUDE 0x1p-118F /* for smaller x, x / 127 may be denormal and 127 / x infinite */

/* ---- rows of f32 ---- */

static float max_magnitude(const float *x, size_t n)
{
    vec_i32 maxima = {0};
    int32_t lanes[VECTOR_LANES], largest = 0;
    float result;
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        /* As integers, floats without their sign are in the same order; NaN is above infinity. */
        vec_i32 magnitude = (vec_i32)vec_load_n(x + i, n - i) & INT32_MAX;
        vec_i32 is_more = magnitude > maxima;
        maxima = (magnitude & is_more) | (maxima & ~is_more);
    }
    memcpy(lanes, &maxima, sizeof lanes);
    for (size_t i = 0; i < VECTOR_LANES; i++)
        largest = lanes[i] > largest ? lanes[i] : largest;
    memcpy(&result, &largest, sizeof result);
    return result;
}

/* In each group of 8 bytes, moves the bytes at even positions before the bytes at odd positions.
 * pack_units unpacks 4-bit codes in this order. */
static void split_even_odd(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t all, swapped;
        memcpy(&all, bytes + i, sizeof all);
        swapped = (all ^ all >> 8) & 0x0000FF000000FF00;
        all ^= swapped ^ swapped << 8;
        swapped = (all ^ all >> 16) & 0x00000000FFFF0000;
        all ^= swapped ^ swapped << 16;
        memcpy(bytes + i, &all, sizeof all);
    }
}

static struct quantized_block quantize_block(const float *x, size_t n, bool is_4bit, uint8_t *codes,
                                             size_t n_bytes)
{
    uint8_t bytes[QUANTIZED_BLOCK];
    int32_t lanes[VECTOR_LANES], sum = 0;
    vec_i32 sums = {0};
    float largest = max_magnitude(x, n);
    memset(bytes, CODE_ZERO, sizeof bytes);
    bool is_finite = largest < INFINITY;
    if (is_finite && largest >= MIN_MAGNITUDE) {
        vec factor = vec_set1(127 / largest);
        for (size_t i = 0; i < n; i += VECTOR_LANES) {
            vec_i32 code = vec_round_to_i32(vec_mul(vec_load_n(x + i, n - i), factor));
            sums += code;
            vec_i32_store_u8(bytes + i, code + CODE_ZERO);
        }
        if (is_4bit)
            split_even_odd(bytes, n_bytes);
    }
    memcpy(codes, bytes, n_bytes);
    memcpy(lanes, &sums, sizeof lanes);
    for (size_t i = 0; i < VECTOR_LANES; i++)
        sum += lanes[i];
    return (struct quantized_block){!is_finite                ? NAN
                                    : largest < MIN_MAGNITUDE ? 0
                                                              : largest / 127,
                                    sum};
}

static void quantize(const struct compressed_matrix *matrix, const float *x, uint8_t *codes,
                     struct quantized_block *blocks)
{
    struct quantized_blocks all = quantized_blocks_of(matrix);
    bool is_4bit = quantized_is_4bit(matrix);
    for (size_t block = 0, n; block < all.n; block++) {
        const float *from = x + quantized_block_at(matrix, &all, block, &n);
        blocks[block] = quantize_block(from, n, is_4bit, codes + block * all.max_quads * INT8_QUAD,
                                       quantized_n_quads(matrix, n) * INT8_QUAD);
    }
}

/* ---- rows of the matrix ---- */

/* Reads VECTOR_LANES matrix rows in parallel, in units of 4 bytes per row. */
struct units {
    struct lane_rows rows;
    const unsigned char *row[VECTOR_LANES]; /* the first byte of each row */
    size_t row_bytes, ahead;
    vec lanes[VECTOR_LANES];
    size_t at; /* index of the next unit in `lanes` */
};

/* Loads the units of all rows from byte `at` on. */
ALWAYS_INLINE void load_units(struct units *units, size_t at)
{
    size_t left = units->row_bytes - at, max_units = VECTOR_LANES * WIDE_UNITS;
    for (size_t i = 0; i < VECTOR_LANES; i++)
        units->rows.at[i] = units->row[i] + at;
    load_lanes(&units->rows, IRRUN_U8, left < max_units ? left : max_units, units->ahead,
               units->lanes);
    units->at = 0;
}

/* Packs n_bytes bytes of each row, from byte `begin` on, XORed with `flip` (see flip_bits). Returns
 * the sum of the codes per row. */
ALWAYS_INLINE vec_i32 pack_units(struct units *units, size_t begin, size_t n_bytes, bool is_4bit,
                                 vec_i32 flip, int8_t *to)
{
    const struct bytes_operand ones = unsigned_operand(vec_i32_set1(0x01010101));
    vec_i32 sum = {0};
    for (size_t byte = 0; byte < n_bytes; byte += WIDE_UNITS, units->at++) {
        if (units->at == VECTOR_LANES)
            load_units(units, begin + byte);
        vec_i32 codes = (vec_i32)units->lanes[units->at] ^ flip;
        vec_i32 high = (vec_i32)((vec_u32)codes >> 4) & 0x0F0F0F0F;
        codes = is_4bit ? codes & 0x0F0F0F0F : codes;
        sum = vec_i32_dot_bytes(sum, ones, signed_operand(codes));
        vec_store(to, (vec)codes);
        to += INT8_GROUP * INT8_QUAD;
        if (is_4bit) {
            sum = vec_i32_dot_bytes(sum, ones, signed_operand(high));
            vec_store(to, (vec)high);
            to += INT8_GROUP * INT8_QUAD;
        }
    }
    return sum;
}

/* Packs VECTOR_LANES rows of a column group, from row `lane` of the group on. */
static void pack_lanes(const struct quantized_packing *p, size_t lane)
{
    const struct compressed_matrix *matrix = p->matrix;
    const struct quantized_blocks blocks = quantized_blocks_of(matrix);
    const vec_i32 flip = flip_bits(matrix->dtype, true);
    const float flipped = flip_offset(matrix->dtype, true);
    const bool is_4bit = quantized_is_4bit(matrix);
    const bool is_whole = compressed_bytes(matrix, matrix->group) % WIDE_UNITS == 0;
    struct units units = {.row_bytes = compressed_bytes(matrix, matrix->k), .ahead = p->ahead};
    units.rows.end = matrix->row + matrix->n * units.row_bytes;
    for (size_t i = 0; i < VECTOR_LANES; i++) {
        size_t row = p->row + lane + i;
        units.rows.numbers[i] = row < matrix->n ? row : matrix->n - 1;
        units.row[i] = matrix->row + units.rows.numbers[i] * units.row_bytes;
    }
    units.at = VECTOR_LANES;
    for (size_t i = 0, n; i < p->n; i++) {
        size_t block = p->first + i, group = block / blocks.blocks_per_group;
        size_t begin = compressed_bytes(matrix, quantized_block_at(matrix, &blocks, block, &n));
        struct quantized_columns *columns = &p->panel->columns[i];
        size_t column = p->group * INT8_GROUP + lane;
        size_t at = i * blocks.max_quads * INT8_QUAD * QUANTIZED_PANEL_ROWS +
                    (p->group * quantized_n_quads(matrix, n) * INT8_GROUP + lane) * INT8_QUAD;
        if (!is_whole)
            units.at = VECTOR_LANES;
        vec_i32 sum = pack_units(&units, begin, compressed_bytes(matrix, n), is_4bit, flip,
                                 p->panel->codes + at);
        vec zero = load_params(&matrix->zero_points, &units.rows, group, 0);
        vec_store(columns->scale + column, load_params(&matrix->scales, &units.rows, group, 1));
        vec_store(columns->zero + column, (vec)vec_round_to_i32(vec_add(zero, vec_set1(flipped))));
        vec_store(columns->start + column, (vec)(sum * -CODE_ZERO));
    }
}

static void pack(const struct quantized_packing *packing)
{
    for (size_t lane = 0; lane < INT8_GROUP; lane += VECTOR_LANES)
        pack_lanes(packing, lane);
}

/* ---- sums ---- */

static void add(const struct quantized_sums *s)
{
    for (size_t column = 0; column < s->n; column += VECTOR_LANES) {
        size_t n = s->n - column;
        vec scale = vec_load(s->columns->scale + column);
        vec_u32 zero = (vec_u32)vec_load(s->columns->zero + column);
        for (size_t i = 0; i < s->m; i++) {
            const struct quantized_block *row = &s->rows[i * s->row_step];
            vec_u32 sum = (vec_u32)vec_load(s->sums[i] + column) - zero * (uint32_t)row->sum;
            vec x = vec_mul(vec_mul(vec_of_i32((vec_i32)sum), scale), vec_set1(row->scale));
            vec from = s->from ? vec_load_n(s->from + i * s->from_step + column, n) : vec_zero();
            vec_store_n(s->c + i * s->ldc + column, vec_add(from, x), n);
        }
    }
}

const struct quantized_kernels LEVEL_NAME(quantized_gemm, LEVEL) = {quantize, pack, add,
                                                                    multiply_rows, MAX_X_ROWS};
