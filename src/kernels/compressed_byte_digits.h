/* Products of one row by bytes, for levels that multiply bytes. x is in fixed point: 32 bits, as
 * four signed bytes (digits), times the scale of the row. So the sums of a row are exact.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_BYTE_DIGITS_H
#define IRRUN_KERNELS_COMPRESSED_BYTE_DIGITS_H

#include "kernels/compressed_digits.h"

/* Each lane of a vector of codes has four. A lane sums up products of a code and a digit, below
 * 2^15, of at most MAX_BYTES_K elements: 2^14 of them for 16 lanes. */
enum { N_BYTE_DIGITS = 4, MAX_BYTES_K = 1 << 18 };

/* The largest number in fixed point, 0x7F7F7F7F, minus a margin for rounding to 24 bits. */
#define MOST_FIXED_BYTES 0x7F7F0000

/* As MAX_CHUNK_RATIO: errors are at most 2^-32 of the largest element, 2^-16 of the mean. */
#define MAX_ROW_RATIO 65536

/* The end of an arranged row of x. The digits of a vector of codes precede it in turn. */
struct fixed_row {
    int32_t sums[N_BYTE_DIGITS][VECTOR_LANES]; /* of the digits of each lane */
    float scale;
};
_Static_assert(sizeof(struct fixed_row) < COMPRESSED_NOTES * sizeof(float), "the notes hold it");

/* Returns whether one row of x can be multiplied as integers: a row of codes is whole vectors and
 * has one scale, and zero points are bytes. */
static inline bool has_fixed_bytes(const struct compressed_matrix *matrix)
{
    const struct group_params *zeros = &matrix->zero_points;
    return is_bytes(matrix->dtype) && matrix->group == matrix->k && matrix->k <= MAX_BYTES_K &&
           matrix->k % sizeof(vec) == 0 && (!zeros->data || zeros->dtype != IRRUN_F32);
}

/* Converts a row of x. Returns false if it cannot be in fixed point. */
static bool convert_bytes_row(const struct compressed_matrix *matrix, const float *x, float *to)
{
    const struct bytes_operand ones = unsigned_operand(vec_i32_set1(0x01010101));
    float largest;
    vec_i32 sums[N_BYTE_DIGITS] = {{0}};
    uint8_t *digits = (uint8_t *)to;
    struct fixed_row *row = (void *)(to + matrix->k);
    if (!is_fixable(x, matrix->k, MAX_ROW_RATIO, &largest))
        return false;
    for (size_t i = 0; i < matrix->k; i += sizeof(vec)) {
        split_digits(x + i, sizeof(vec), largest == 0 ? 0 : MOST_FIXED_BYTES / largest,
                     N_BYTE_DIGITS, digits, sizeof(vec));
        for (size_t digit = 0; digit < N_BYTE_DIGITS; digit++, digits += sizeof(vec))
            sums[digit] =
                vec_i32_dot_bytes(sums[digit], ones, signed_operand(vec_i32_load(digits)));
    }
    for (size_t digit = 0; digit < N_BYTE_DIGITS; digit++)
        vec_store((float *)row->sums[digit], (vec)sums[digit]);
    row->scale = largest / MOST_FIXED_BYTES;
    return true;
}

/* Returns a vector whose lanes add up to the product of a row of codes and x, without the scales.
 * zero: the zero point of the unsigned codes. */
ALWAYS_INLINE vec sum_bytes(const unsigned char *codes, vec_i32 flip, int32_t zero, size_t k,
                            const float *x)
{
    const struct fixed_row *row = (const void *)(x + k);
    const uint8_t *digits = (const uint8_t *)x;
    vec_i32 sums[N_BYTE_DIGITS];
    UNROLL
    for (size_t digit = 0; digit < N_BYTE_DIGITS; digit++)
        sums[digit] = (vec_i32){0};
    for (size_t i = 0; i < k; i += sizeof(vec), codes += sizeof(vec)) {
        prefetch_stream(codes);
        struct bytes_operand operand =
            unsigned_operand((vec_i32)vec_in_register((vec)(vec_i32_load(codes) ^ flip)));
        UNROLL
        for (size_t digit = 0; digit < N_BYTE_DIGITS; digit++, digits += sizeof(vec))
            sums[digit] =
                vec_i32_dot_bytes(sums[digit], operand, signed_operand(vec_i32_load(digits)));
    }
    vec total = vec_zero();
    UNROLL
    for (size_t digit = 0; digit < N_BYTE_DIGITS; digit++) {
        vec_i32 sum = sums[digit] - vec_i32_load(row->sums[digit]) * zero;
        total = vec_fma(total, vec_set1(256), vec_of_i32(sum));
    }
    return total;
}

__attribute__((noinline)) static void multiply_fixed_bytes(const struct compressed_product *p)
{
    const struct compressed_matrix *matrix = p->matrix;
    const size_t k = matrix->k;
    const vec_i32 flip = flip_bits(matrix->dtype, false);
    const float offset = unsigned_offset(matrix->dtype);
    const float x_scale = ((const struct fixed_row *)(const void *)(p->x + k))->scale;
    for (size_t row = p->begin; row < p->end; row += ROWS_AT_ONCE) {
        vec sums[ROWS_AT_ONCE];
        float dots[ROWS_AT_ONCE];
        for (size_t r = 0; r < ROWS_AT_ONCE; r++) {
            size_t at = row + r < p->end ? row + r : p->end - 1;
            int32_t zero = (int32_t)(param_of(&matrix->zero_points, at, 0, 0) + offset);
            sums[r] = sum_bytes(matrix->row + at * k, flip, zero, k, p->x);
        }
        vec_store_sums(dots, sums[0], sums[1], sums[2], sums[3]);
        for (size_t r = 0; r < ROWS_AT_ONCE && row + r < p->end; r++) {
            /* The product of both scales may be denormal or infinite. */
            float sum = dots[r] * x_scale * param_of(&matrix->scales, row + r, 0, 1);
            p->c[row + r] = (p->start ? p->start[row + r] : 0) + sum;
        }
    }
}

#endif
