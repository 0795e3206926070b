/* Puts x into the order in which compressed_codes.h decodes the elements that it is multiplied by.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_ARRANGE_H
#define IRRUN_KERNELS_COMPRESSED_ARRANGE_H

#include "kernels/compressed_codes.h"

/* Writes the elements of a chunk in the order of their positions. Those of floats stay as they are.
 * Of codes, those with even positions are the even ones, and so on within both halves, so that
 * vector i is at the position whose bits are those of i in reverse. */
ALWAYS_INLINE void arrange_chunk(const float *x, enum irrun_dtype dtype, size_t width, float *to)
{
    const size_t n = width * codes_per_unit(dtype);
    vec lanes[MAX_POSITIONS], halves[MAX_POSITIONS];
    if (is_float(dtype)) {
        memcpy(to, x, n * VECTOR_LANES * sizeof *x);
        return;
    }
    UNROLL
    for (size_t i = 0; i < n; i++)
        lanes[i] = vec_load(x + i * VECTOR_LANES);
    UNROLL
    for (size_t size = n; size > 1; size /= 2) {
        UNROLL
        for (size_t i = 0; i < n; i += 2) {
            size_t even = i / size * size + i % size / 2;
            halves[even] = vec_even(lanes[i], lanes[i + 1]);
            halves[even + size / 2] = vec_odd(lanes[i], lanes[i + 1]);
        }
        memcpy(lanes, halves, sizeof lanes);
    }
    UNROLL
    for (size_t i = 0; i < n; i++) {
        size_t position = i % 2 * n / 2 + i / 2 % 2 * n / 4 + i / 4 * n / 8;
        vec factor = vec_set1(1 / position_factor(dtype, position));
        vec_store(to + position * VECTOR_LANES, vec_mul(lanes[i], factor));
    }
}

ALWAYS_INLINE void arrange_group(const float *x, enum irrun_dtype dtype, size_t n, float *to)
{
    const size_t narrow = VECTOR_LANES * codes_per_unit(dtype), wide = narrow * WIDE;
    float last[2 * VECTOR_LANES] = {0};
    for (; n >= wide; n -= wide, x += wide, to += wide)
        arrange_chunk(x, dtype, WIDE, to);
    for (; n >= narrow; n -= narrow, x += narrow, to += narrow)
        arrange_chunk(x, dtype, 1, to);
    if (n == 0)
        return;
    memcpy(last, x, n * sizeof *x);
    arrange_chunk(last, dtype, 1, to);
}

ALWAYS_INLINE void arrange_type(const struct compressed_matrix *matrix, enum irrun_dtype dtype,
                                const float *x, float *to)
{
    size_t n_groups = matrix->k / matrix->group;
    size_t padded = compressed_row_floats(matrix) / n_groups;
    for (size_t group = 0; group < n_groups; group++)
        arrange_group(x + group * matrix->group, dtype, matrix->group, to + group * padded);
}

static inline void arrange(const struct compressed_matrix *matrix, const float *x, float *to)
{
    switch (matrix->dtype) {
    case IRRUN_F32:
    case IRRUN_F16:
    case IRRUN_BF16:
        arrange_type(matrix, IRRUN_F32, x, to);
        break;
    case IRRUN_U8:
    case IRRUN_I8:
        arrange_type(matrix, IRRUN_U8, x, to);
        break;
    case IRRUN_U4:
    case IRRUN_I4:
        arrange_type(matrix, IRRUN_U4, x, to);
        break;
    default:
        arrange_type(matrix, IRRUN_NF4, x, to);
    }
}

#endif
