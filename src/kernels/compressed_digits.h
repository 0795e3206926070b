/* Products of one row by integers of 4 bits, for levels that multiply bytes. x is in fixed point:
 * 24 bits, as three signed bytes (digits), times a scale. So the sum of a lane is exact. For more
 * rows, floats are as fast.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_DIGITS_H
#define IRRUN_KERNELS_COMPRESSED_DIGITS_H

#include <math.h>

#include "kernels/compressed_codes.h"

/* A chunk of the matrix is a vector of codes. Lane i has elements i * LANE_CODES and following. */
enum { N_DIGITS = 3, LANE_CODES = 8, CHUNK = LANE_CODES * VECTOR_LANES };

/* Digits are at most 127, so a number in fixed point is at most 0x7F7F7F; rounding needs a margin.
 * A lane sums up LANE_CODES of them, each times the difference of two codes: less than 2^30. */
#define MOST_FIXED 0x7F7F00

/* A chunk of x. It takes the place of as many floats. */
struct fixed_chunk {
    int8_t digits[N_DIGITS][2][CHUNK / 2]; /* the highest first; of even and of odd elements */
    int32_t minus_sums[VECTOR_LANES];      /* of the elements of each lane, times the zero point
                                              if the matrix has only one */
    float scale[VECTOR_LANES];             /* all equal */
};
_Static_assert(sizeof(struct fixed_chunk) == CHUNK * sizeof(float), "chunks replace floats");

ALWAYS_INLINE bool has_one_zero(const struct group_params *zeros)
{
    return !zeros->data || (zeros->row_step == 0 && zeros->group_step == 0);
}

/* Returns whether a row of the matrix is a row of chunks. Their groups are whole chunks, or whole
 * lanes. Zero points have 4 bits, as the codes. */
static inline bool has_chunks(const struct compressed_matrix *matrix)
{
    const struct group_params *zeros = &matrix->zero_points;
    const bool is_i4 = matrix->dtype == IRRUN_I4, is_u4 = matrix->dtype == IRRUN_U4;
    const size_t group = matrix->group;
    return (zeros->data ? is_u4 && zeros->dtype == IRRUN_U4 : is_i4 || is_u4) &&
           matrix->k % CHUNK == 0 &&
           (group % CHUNK == 0 || (CHUNK % group == 0 && group % LANE_CODES == 0));
}

/* The codes of a chunk, of even and of odd elements. */
struct code_pair {
    struct bytes_factor even, odd;
};

/* Loads codes. `flip` makes those of i4 unsigned, which adds 8. */
ALWAYS_INLINE struct code_pair load_codes(const unsigned char *at, vec_i32 flip)
{
    vec_i32 codes = (vec_i32)vec_in_register((vec)(vec_i32_load(at) ^ flip));
    vec_i32 odd = (vec_i32)((vec_u32)codes >> 4);
    return (struct code_pair){unsigned_factor(codes & 0x0F0F0F0F),
                              unsigned_factor(odd & 0x0F0F0F0F)};
}

/* Adds the sum of each lane. The digits have sums of their own, so that none waits for another. */
ALWAYS_INLINE vec_i32 dot_chunk(vec_i32 start, const struct fixed_chunk *x,
                                const struct code_pair *codes)
{
    vec_u32 sums[N_DIGITS];
    UNROLL
    for (size_t i = 0; i < N_DIGITS; i++) {
        vec_i32 sum = i + 1 < N_DIGITS ? (vec_i32){0} : start;
        sum = vec_i32_dot_bytes(sum, codes->even, signed_factor(vec_i32_load(x->digits[i][0])));
        sum = vec_i32_dot_bytes(sum, codes->odd, signed_factor(vec_i32_load(x->digits[i][1])));
        sums[i] = (vec_u32)sum;
    }
    return (vec_i32)((((sums[0] << 8) + sums[1]) << 8) + sums[2]);
}

/* ---- x ---- */

/* Returns the size of the largest element of a chunk, or infinity if an element is not finite. */
static float largest_of(const float *x)
{
    vec most = vec_zero(), zero = vec_zero();
    float sizes[VECTOR_LANES], zeros[VECTOR_LANES], largest = 0;
    for (size_t i = 0; i < CHUNK; i += VECTOR_LANES) {
        most = vec_max(most, vec_abs(vec_load(x + i)));
        zero = vec_fma(vec_load(x + i), vec_zero(), zero);
    }
    vec_store(sizes, most);
    vec_store(zeros, zero);
    for (size_t i = 0; i < VECTOR_LANES; i++)
        largest = zeros[i] != 0 ? INFINITY : fmaxf(largest, sizes[i]);
    return largest;
}

/* Converts a chunk of x, whose elements are multiplied by `factor`. */
static void fix_chunk(const float *x, float factor, struct fixed_chunk *to)
{
    typedef uint8_t half_bytes __attribute__((vector_size(2 * VECTOR_LANES)));
    uint8_t bytes[N_DIGITS][CHUNK];
    for (size_t i = 0; i < CHUNK; i += VECTOR_LANES) {
        /* The nearest multiple of 256 is subtracted from a number: the rest is its digit. */
        vec_i32 fixed = vec_round_to_i32(vec_mul(vec_load(x + i), vec_set1(factor)));
        vec_i32 all = (fixed + 0x808080) ^ 0x808080;
        for (int digit = 0; digit < N_DIGITS; digit++)
            vec_i32_store_u8(bytes[digit] + i, all >> 8 * (N_DIGITS - 1 - digit) & 255);
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
}

/* Returns what is subtracted from all codes if the matrix has one zero point, otherwise 1. */
static int32_t common_zero(const struct compressed_matrix *matrix)
{
    const struct group_params *zeros = &matrix->zero_points;
    if (!has_one_zero(zeros))
        return 1;
    return (int32_t)(offset_of(matrix->dtype) + param_of(zeros, 0, 0, 0));
}

/* Converts a row of x. Returns false if an element is not finite, or the largest one of a chunk is
 * so large or small that its scale could overflow or lose bits. */
static bool fix_row(const struct compressed_matrix *matrix, const float *x, float *to)
{
    const vec_i32 ones = vec_i32_set1(0x01010101), zero = vec_i32_set1(-common_zero(matrix));
    const struct code_pair all_ones = {unsigned_factor(ones), unsigned_factor(ones)};
    for (size_t i = 0; i < matrix->k; i += CHUNK) {
        struct fixed_chunk *chunk = (void *)(to + i);
        float largest = largest_of(x + i);
        if (largest != 0 && !(largest >= 0x1p-90F && largest <= 0x1p90F))
            return false;
        fix_chunk(x + i, largest == 0 ? 0 : MOST_FIXED / largest, chunk);
        vec_store((float *)chunk->minus_sums,
                  (vec)(dot_chunk((vec_i32){0}, chunk, &all_ones) * zero));
        vec_store(chunk->scale, vec_set1(largest / MOST_FIXED));
    }
    return true;
}

/* ---- products ---- */

/* Returns the scale or zero point of each lane of a chunk, which has n groups. */
ALWAYS_INLINE vec lane_params(const struct group_params *params, size_t row, size_t group, size_t n,
                              float none)
{
    float numbers[VECTOR_LANES];
    if (n == 1 || !params->data)
        return vec_set1(param_of(params, row, group, none));
    for (size_t i = 0; i < VECTOR_LANES; i++)
        numbers[i] = param_of(params, row, group + i * n / VECTOR_LANES, none);
    return vec_load(numbers);
}

/* Adds the chunks of a scale to `sum`, whose lanes add up to the product of a row of the matrix and
 * x. zero: that of each lane, if has_zeros. */
ALWAYS_INLINE vec add_chunks(const unsigned char *codes, const struct fixed_chunk *x,
                             const size_t n_chunks, vec_i32 flip, vec scale, vec_i32 zero,
                             const bool has_zeros, vec sum)
{
    for (size_t i = 0; i < n_chunks; i++, x++, codes += sizeof(vec)) {
        prefetch_stream(codes);
        struct code_pair pair = load_codes(codes, flip);
        vec_i32 start = vec_i32_load(x->minus_sums);
        vec dot = vec_of_i32(dot_chunk(has_zeros ? start * zero : start, x, &pair));
        sum = vec_fma(vec_mul(dot, vec_load(x->scale)), scale, sum);
    }
    return sum;
}

/* Returns a vector whose lanes add up to the product of a row of the matrix and x. is_usual: a
 * group is a chunk and has a scale, and all have the same zero point. */
ALWAYS_INLINE vec sum_chunks(const struct compressed_product *p, size_t row, const bool is_usual)
{
    const struct compressed_matrix *matrix = p->matrix;
    const struct group_params *scales = &matrix->scales, *zeros = &matrix->zero_points;
    const size_t group = matrix->group, n_groups = matrix->k / group;
    const vec_i32 flip = vec_i32_set1(matrix->dtype == IRRUN_I4 ? (int32_t)0x88888888 : 0);
    const unsigned char *codes = matrix->row + compressed_bytes(matrix, row * matrix->k);
    const struct fixed_chunk *x = (const void *)p->x;
    vec sum = vec_zero();
    if (is_usual) {
        const float *scale = (const float *)scales->data + row * scales->row_step;
        for (size_t i = 0; i < n_groups; i++, codes += sizeof(vec), scale += scales->group_step)
            sum = add_chunks(codes, x + i, 1, flip, vec_set1(*scale), flip, false, sum);
        return sum;
    }
    const bool has_zeros = !has_one_zero(zeros);
    const size_t n_of_chunk = group < CHUNK ? CHUNK / group : 1;
    const size_t n_chunks = group < CHUNK ? 1 : group / CHUNK;
    for (size_t i = 0; i < n_groups; i += n_of_chunk) {
        vec scale = lane_params(scales, row, i, n_of_chunk, 1);
        vec_i32 zero = vec_round_to_i32(lane_params(zeros, row, i, n_of_chunk, 0));
        sum = add_chunks(codes, x, n_chunks, flip, scale, zero, has_zeros, sum);
        codes += n_chunks * sizeof(vec);
        x += n_chunks;
    }
    return sum;
}

ALWAYS_INLINE void multiply_rows_of_chunks(const struct compressed_product *p, const bool is_usual)
{
    enum { ROWS_AT_A_TIME = 4 }; /* vec_store_sums adds the lanes of four vectors */
    for (size_t row = p->begin; row < p->end; row += ROWS_AT_A_TIME) {
        vec sums[ROWS_AT_A_TIME];
        float dots[ROWS_AT_A_TIME];
        for (size_t r = 0; r < ROWS_AT_A_TIME; r++)
            sums[r] = sum_chunks(p, row + r < p->end ? row + r : p->end - 1, is_usual);
        vec_store_sums(dots, sums[0], sums[1], sums[2], sums[3]);
        for (size_t r = 0; r < ROWS_AT_A_TIME && row + r < p->end; r++)
            p->c[row + r] = (p->start ? p->start[row + r] : 0) + dots[r];
    }
}

static void multiply_chunks(const struct compressed_product *p)
{
    const struct compressed_matrix *matrix = p->matrix;
    if (matrix->group == CHUNK && matrix->scales.data && has_one_zero(&matrix->zero_points))
        multiply_rows_of_chunks(p, true);
    else
        multiply_rows_of_chunks(p, false);
}

#endif
