/* Multiplies one row x by matrices of 4-bit integers, for levels with products of bytes. x is
 * converted to fixed point: three signed bytes (digits) per element, and a scale per chunk. So the
 * sum of a lane is exact. For several rows of x, floats are as fast.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_DIGITS_H
#define IRRUN_KERNELS_COMPRESSED_DIGITS_H

#include <math.h>

#include "kernels/compressed_codes.h"

/* A chunk of the matrix is a vector of codes. Lane i holds LANE_CODES elements, from i * LANE_CODES
 * on. */
enum { N_DIGITS = 3, LANE_CODES = 8, CHUNK = LANE_CODES * VECTOR_LANES };

/* Rows of the matrix multiplied at once; vec_store_sums takes four vectors. */
enum { ROWS_AT_ONCE = 4 };

/* The most groups per chunk: their zero points are read as one number of 32 bits. */
enum { MAX_CHUNK_GROUPS = 4 };

/* Digits are at most 127, so a number in fixed point is at most 0x7F7F7F; rounding needs a margin.
 * A lane adds LANE_CODES products of such a number and a code minus its zero point, which is less
 * than 2^30 in total. */
#define MAX_FIXED 0x7F7F00

/* Numbers of other sizes have scales that could overflow or lose bits. */
#define LEAST_SIZE 0x1p-90F
#define MOST_SIZE 0x1p90F

/* How much larger than the mean an element may be, of a chunk or a group in it. The errors of the
 * others are at most 2^-24 of it, that is, 2^-16 of the mean. */
#define MAX_CHUNK_RATIO 256

/* A chunk of x. It takes the place of as many floats. */
struct fixed_chunk {
    int8_t digits[N_DIGITS][2][CHUNK / 2]; /* [most significant first][even, odd elements] */
    /* Minus the sum of each lane's elements, times the zero point if the matrix has only one. */
    int32_t minus_sums[VECTOR_LANES];
    float scale[VECTOR_LANES]; /* those of a group are equal */
};
_Static_assert(sizeof(struct fixed_chunk) == CHUNK * sizeof(float), "chunks replace floats");

ALWAYS_INLINE bool has_one_zero(const struct group_params *zeros)
{
    return !zeros->data || (zeros->row_step == 0 && zeros->group_step == 0);
}

/* Returns how many groups begin in a chunk that begins a group. */
ALWAYS_INLINE size_t chunk_groups(const struct compressed_matrix *matrix)
{
    return matrix->group < CHUNK ? CHUNK / matrix->group : 1;
}

/* Returns whether this file can multiply by the matrix: its codes and zero points have 4 bits,
 * groups consist of whole chunks or chunks of whole groups, and the parameters of the groups of a
 * chunk are adjacent. */
static inline bool divides_into_chunks(const struct compressed_matrix *matrix)
{
    const struct group_params *scales = &matrix->scales, *zeros = &matrix->zero_points;
    const bool is_i4 = matrix->dtype == IRRUN_I4, is_u4 = matrix->dtype == IRRUN_U4;
    const size_t n = chunk_groups(matrix);
    if (!scales->data || !(zeros->data ? is_u4 && zeros->dtype == IRRUN_U4 : is_i4 || is_u4))
        return false;
    if (n == 1)
        return matrix->group % CHUNK == 0;
    return (n == 2 || n == MAX_CHUNK_GROUPS) && n * matrix->group == CHUNK &&
           matrix->k % CHUNK == 0 && scales->group_step == 1 &&
           (has_one_zero(zeros) || zeros->group_step == 1);
}

/* The codes of the even and of the odd elements of a chunk. */
struct code_pair {
    struct bytes_operand even, odd;
};

/* Loads the codes of a chunk. `flip` is XORed with them; it makes i4 codes unsigned, which adds
 * 8. */
ALWAYS_INLINE struct code_pair load_codes(const unsigned char *at, vec_i32 flip)
{
    vec_i32 codes = (vec_i32)vec_in_register((vec)(vec_i32_load(at) ^ flip));
    vec_i32 odd = (vec_i32)((vec_u32)codes >> 4);
    return (struct code_pair){unsigned_operand(codes & 0x0F0F0F0F),
                              unsigned_operand(odd & 0x0F0F0F0F)};
}

/* Adds the dot product of each lane to dots[r], for n_rows rows of the matrix and one chunk of x.
 * Each digit has its own sum, so that the sums do not wait for each other. The rows share the loads
 * of x, which on Zen 4 take longer than the products of one row. */
ALWAYS_INLINE void dot_chunks(vec_i32 *dots, const struct fixed_chunk *x,
                              const struct code_pair *codes, const size_t n_rows)
{
    vec_u32 sums[N_DIGITS][ROWS_AT_ONCE];
    UNROLL
    for (size_t i = 0; i < N_DIGITS; i++) {
        vec even = vec_in_register((vec)vec_i32_load(x->digits[i][0]));
        vec odd = vec_in_register((vec)vec_i32_load(x->digits[i][1]));
        UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            vec_i32 sum = i + 1 < N_DIGITS ? (vec_i32){0} : dots[r];
            sum = vec_i32_dot_bytes(sum, codes[r].even, signed_operand((vec_i32)even));
            sum = vec_i32_dot_bytes(sum, codes[r].odd, signed_operand((vec_i32)odd));
            sums[i][r] = (vec_u32)sum;
        }
    }
    UNROLL
    for (size_t r = 0; r < n_rows; r++)
        dots[r] = (vec_i32)((((sums[0][r] << 8) + sums[1][r]) << 8) + sums[2][r]);
}

/* ---- x ---- */

/* Sets *largest to the largest magnitude of n elements, whole vectors. Returns whether they can
 * be in fixed point: they are finite, their scale neither overflows nor loses bits, and
 * `largest` is at most `ratio` times the mean of the others, because they all get its absolute
 * precision. */
static bool is_fixable(const float *x, size_t n, float ratio, float *largest)
{
    vec most = vec_zero(), sum = vec_zero();
    float sizes[VECTOR_LANES], sums[VECTOR_LANES], others = 0;
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        vec size = vec_abs(vec_load(x + i));
        most = vec_max(most, size);
        sum = vec_add(sum, size);
    }
    vec_store(sizes, most);
    vec_store(sums, sum);
    *largest = 0;
    for (size_t i = 0; i < VECTOR_LANES; i++)
        *largest = fmaxf(*largest, sizes[i]);
    /* Only the sums of lanes without the largest one are exact enough. Those with NaN are NaN. */
    size_t n_others = 0;
    for (size_t i = 0; i < VECTOR_LANES; i++) {
        bool has_largest = sizes[i] == *largest && !isnan(sums[i]);
        others += has_largest ? 0 : sums[i];
        n_others += has_largest ? 0 : n / VECTOR_LANES;
    }
    if (*largest == 0)
        return others == 0;
    return *largest >= LEAST_SIZE && *largest <= MOST_SIZE &&
           (others == 0 || *largest * (float)n_others <= ratio * others);
}

/* Multiplies n elements, whole vectors, by `factor`, rounds them and writes n_digits digits of
 * each: the i-th highest ones from digits[i * step] on. */
static void split_digits(const float *x, size_t n, float factor, const size_t n_digits,
                         uint8_t *digits, size_t step)
{
    const vec_i32 halves = vec_i32_set1((int32_t)(0x80808080U >> 8 * (sizeof(int32_t) - n_digits)));
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        /* Adding 128 to each digit makes them the bytes of the sum. */
        vec_i32 fixed = vec_round_to_i32(vec_mul(vec_load(x + i), vec_set1(factor)));
        vec_i32 bytes = (vec_i32)((vec_u32)fixed + (vec_u32)halves) ^ halves;
        for (size_t digit = 0; digit < n_digits; digit++)
            vec_i32_store_u8(digits + digit * step + i,
                             bytes >> 8 * (int)(n_digits - 1 - digit) & 255);
    }
}

/* Converts a chunk of x, with a scale for each n elements. Returns false if they cannot be in fixed
 * point. */
static bool convert_chunk(const float *x, size_t n, struct fixed_chunk *to)
{
    typedef uint8_t half_bytes __attribute__((vector_size(2 * VECTOR_LANES)));
    uint8_t bytes[N_DIGITS][CHUNK];
    for (size_t i = 0; i < CHUNK; i += n) {
        float largest;
        if (!is_fixable(x + i, n, MAX_CHUNK_RATIO, &largest))
            return false;
        split_digits(x + i, n, largest == 0 ? 0 : MAX_FIXED / largest, N_DIGITS, bytes[0] + i,
                     CHUNK);
        for (size_t lane = i / LANE_CODES; lane < (i + n) / LANE_CODES; lane++)
            to->scale[lane] = largest / MAX_FIXED;
    }
    for (size_t digit = 0; digit < N_DIGITS; digit++) {
        for (size_t i = 0; i < CHUNK / 2; i += sizeof(half_bytes)) {
            vec_u16 pairs;
            memcpy(&pairs, bytes[digit] + 2 * i, sizeof pairs);
            half_bytes even = __builtin_convertvector(pairs & 255, half_bytes);
            half_bytes odd = __builtin_convertvector(pairs >> 8, half_bytes);
            memcpy(&to->digits[digit][0][i], &even, sizeof even);
            memcpy(&to->digits[digit][1][i], &odd, sizeof odd);
        }
    }
    return true;
}

/* Returns the number to subtract from all unsigned codes if the matrix has one zero point,
 * otherwise 1. */
static int32_t common_zero(const struct compressed_matrix *matrix)
{
    const struct group_params *zeros = &matrix->zero_points;
    if (!has_one_zero(zeros))
        return 1;
    return (int32_t)(unsigned_offset(matrix->dtype) + param_of(zeros, 0, 0, 0));
}

/* Converts a row of x. Returns false if a chunk cannot be in fixed point. */
static bool convert_row(const struct compressed_matrix *matrix, const float *x, float *to)
{
    const vec_i32 ones = vec_i32_set1(0x01010101), zero = vec_i32_set1(-common_zero(matrix));
    const struct code_pair all_ones = {unsigned_operand(ones), unsigned_operand(ones)};
    for (size_t i = 0; i < matrix->k; i += CHUNK) {
        struct fixed_chunk *chunk = (void *)(to + i);
        if (!convert_chunk(x + i, matrix->group < CHUNK ? matrix->group : CHUNK, chunk))
            return false;
        vec_i32 sum = {0};
        dot_chunks(&sum, chunk, &all_ones, 1);
        vec_store((float *)chunk->minus_sums, (vec)(sum * zero));
    }
    return true;
}

/* ---- products ---- */

/* Returns the index of the group of each lane. */
ALWAYS_INLINE vec_i32 lane_groups(const size_t n_groups)
{
    vec_i32 groups = {0};
    for (size_t i = 0; i < VECTOR_LANES; i++)
        groups[i] = (int32_t)(i * n_groups / VECTOR_LANES);
    return groups;
}

/* Returns n_groups elements, each in the lanes of its group. */
ALWAYS_INLINE vec load_scales(const float *at, const size_t n_groups)
{
    vec_i32 scales = (vec_i32)vec_set1_at(at);
    for (size_t i = 1; i < n_groups; i++) {
        vec_i32 is_before = lane_groups(n_groups) < vec_i32_set1((int32_t)i);
        scales = (scales & is_before) | ((vec_i32)vec_set1_at(at + i) & ~is_before);
    }
    return (vec)scales;
}

/* Returns n_groups bytes, each in the lanes of its group. */
ALWAYS_INLINE vec_i32 load_zeros(const uint8_t *at, const size_t n_groups)
{
    int32_t bytes = 0;
    if (n_groups == 1)
        return vec_i32_set1(at[0]);
    memcpy(&bytes, at, n_groups);
    return vec_i32_set1(bytes) >> lane_groups(n_groups) * 8 & 255;
}

/* Sets totals[r] to a vector whose lanes add up to the product of rows[r] of the matrix and x.
 * n_begun: the result of chunk_groups. has_zeros: the groups have different zero points. */
ALWAYS_INLINE void sum_chunks(const struct compressed_product *p, const size_t rows[ROWS_AT_ONCE],
                              const size_t n_begun, const bool has_zeros, vec totals[ROWS_AT_ONCE])
{
    const struct compressed_matrix *matrix = p->matrix;
    const struct group_params *scales = &matrix->scales, *zeros = &matrix->zero_points;
    const size_t n_chunks = n_begun == 1 ? matrix->group / CHUNK : 1;
    const vec_i32 flip = flip_bits(matrix->dtype, false);
    const struct fixed_chunk *x = (const void *)p->x, *end = x + matrix->k / CHUNK;
    const unsigned char *codes[ROWS_AT_ONCE];
    const float *row_scales[ROWS_AT_ONCE];
    const uint8_t *row_zeros[ROWS_AT_ONCE];
    for (size_t r = 0; r < ROWS_AT_ONCE; r++) {
        codes[r] = matrix->row + compressed_bytes(matrix, rows[r] * matrix->k);
        row_scales[r] = (const float *)scales->data + rows[r] * scales->row_step;
        row_zeros[r] = has_zeros ? (const uint8_t *)zeros->data + rows[r] * zeros->row_step : NULL;
        totals[r] = vec_zero();
    }
    for (size_t group = 0; x < end; group += n_begun) {
        vec scale[ROWS_AT_ONCE];
        vec_i32 zero[ROWS_AT_ONCE];
        UNROLL
        for (size_t r = 0; r < ROWS_AT_ONCE; r++) {
            scale[r] = load_scales(row_scales[r] + group * scales->group_step, n_begun);
            if (has_zeros)
                zero[r] = load_zeros(row_zeros[r] + group * zeros->group_step, n_begun);
        }
        for (size_t i = 0; i < n_chunks; i++, x++) {
            struct code_pair pairs[ROWS_AT_ONCE];
            vec_i32 start = vec_i32_load(x->minus_sums), dots[ROWS_AT_ONCE];
            vec x_scale = vec_in_register(vec_load(x->scale));
            UNROLL
            for (size_t r = 0; r < ROWS_AT_ONCE; r++) {
                prefetch_stream(codes[r]);
                pairs[r] = load_codes(codes[r], flip);
                codes[r] += sizeof(vec);
                dots[r] = has_zeros ? start * zero[r] : start;
            }
            dot_chunks(dots, x, pairs, ROWS_AT_ONCE);
            UNROLL
            for (size_t r = 0; r < ROWS_AT_ONCE; r++)
                totals[r] = vec_fma(vec_mul(vec_of_i32(dots[r]), x_scale), scale[r], totals[r]);
        }
    }
}

/* Multiplies all rows of the product. Sums of rows from p->end on are not stored. */
ALWAYS_INLINE void multiply_rows_of(const struct compressed_product *p, const size_t n_begun,
                                    const bool has_zeros)
{
    for (size_t row = p->begin; row < p->end; row += ROWS_AT_ONCE) {
        vec sums[ROWS_AT_ONCE];
        float dots[ROWS_AT_ONCE];
        size_t rows[ROWS_AT_ONCE];
        for (size_t r = 0; r < ROWS_AT_ONCE; r++)
            rows[r] = row + r < p->end ? row + r : p->end - 1;
        sum_chunks(p, rows, n_begun, has_zeros, sums);
        vec_store_sums(dots, sums[0], sums[1], sums[2], sums[3]);
        for (size_t r = 0; r < ROWS_AT_ONCE && row + r < p->end; r++)
            p->c[row + r] = (p->start ? p->start[row + r] : 0) + dots[r];
    }
}

/* Multiplies by a matrix whose groups have different zero points, or not. */
ALWAYS_INLINE void multiply_by_groups(const struct compressed_product *p, const bool has_zeros)
{
    size_t n_begun = chunk_groups(p->matrix);
    if (n_begun == 1)
        multiply_rows_of(p, 1, has_zeros);
    else if (n_begun == 2)
        multiply_rows_of(p, 2, has_zeros);
    else
        multiply_rows_of(p, MAX_CHUNK_GROUPS, has_zeros);
}

__attribute__((noinline)) static void multiply_chunks(const struct compressed_product *p)
{
    if (has_one_zero(&p->matrix->zero_points))
        multiply_by_groups(p, false);
    else
        multiply_by_groups(p, true);
}

#endif
