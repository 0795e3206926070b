/* Permutes x into the order in which compressed_codes.h decodes the rows of the matrix.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_ARRANGE_H
#define IRRUN_KERNELS_COMPRESSED_ARRANGE_H

#include "kernels/compressed_codes.h"

/* Arranges n elements of x in chunks of n_of_chunk positions, and advances *x and *to. If is_last,
 * the last chunk is padded with zeros. Otherwise returns how many elements are left, fewer than a
 * chunk. */
static size_t arrange_chunks(enum irrun_dtype dtype, size_t n_of_chunk, bool is_last,
                             const float **x, size_t n, float **to)
{
    const size_t size = n_of_chunk * VECTOR_LANES;
    size_t lanes[VECTOR_LANES];
    float last[MAX_POSITIONS * VECTOR_LANES] = {0};
    for (size_t lane = 0; lane < VECTOR_LANES; lane++)
        lanes[lane] = element_at(dtype, n_of_chunk, 0, lane);
    while (n >= size || (is_last && n > 0)) {
        const float *from = n < size ? memcpy(last, *x, n * sizeof **x) : *x;
        for (size_t position = 0; position < n_of_chunk; position++) {
            const float *first = from + element_at(dtype, n_of_chunk, position, 0);
            float factor = 1 / position_factor(dtype, position);
            for (size_t lane = 0; lane < VECTOR_LANES; lane++)
                *(*to)++ = first[lanes[lane]] * factor;
        }
        *x += size;
        n -= n < size ? n : size;
    }
    return n;
}

/* Arranges a row of x: of each scale group the wide chunks, then the narrow ones. */
static inline void arrange_floats(const struct compressed_matrix *matrix, bool is_alone,
                                  const float *x, float *to)
{
    (void)is_alone;
    enum irrun_dtype dtype = decoded_as(matrix);
    size_t n = matrix->group, n_groups = matrix->k / n;
    size_t padded = compressed_group_floats(matrix);
    for (size_t group = 0; group < n_groups; group++) {
        const float *from = x + group * n;
        float *at = to + group * padded;
        size_t left = arrange_chunks(dtype, n_positions(dtype, true), false, &from, n, &at);
        arrange_chunks(dtype, n_positions(dtype, false), true, &from, left, &at);
    }
}

#endif
