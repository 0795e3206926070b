/* Permutes a row of x into the order in which compressed_codes.h decodes a row of the matrix.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_ARRANGE_H
#define IRRUN_KERNELS_COMPRESSED_ARRANGE_H

#include "kernels/compressed_codes.h"

/* Writes n elements of x to *to in chunks of n_positions positions, and advances *x and *to. If
 * is_last, pads the last chunk with zeros and returns 0. Otherwise returns the number of elements
 * that are left over, fewer than a chunk. */
static size_t arrange_chunks(enum irrun_dtype dtype, size_t n_positions, bool is_last,
                             const float **x, size_t n, float **to)
{
    const size_t size = n_positions * VECTOR_LANES;
    size_t lanes[VECTOR_LANES];
    float last[MAX_POSITIONS * VECTOR_LANES] = {0};
    for (size_t lane = 0; lane < VECTOR_LANES; lane++)
        lanes[lane] = element_at(dtype, n_positions, 0, lane);
    while (n >= size || (is_last && n > 0)) {
        const float *from = n < size ? memcpy(last, *x, n * sizeof **x) : *x;
        for (size_t position = 0; position < n_positions; position++) {
            const float *first = from + element_at(dtype, n_positions, position, 0);
            float factor = 1 / position_factor(dtype, position);
            for (size_t lane = 0; lane < VECTOR_LANES; lane++)
                *(*to)++ = first[lanes[lane]] * factor;
        }
        *x += size;
        n -= n < size ? n : size;
    }
    return n;
}

/* Arranges a row of x: for each scale group, first the wide chunks, then the narrow ones. */
static inline void arrange_floats(const struct compressed_matrix *matrix, bool is_alone,
                                  const float *x, float *to)
{
    (void)is_alone;
    enum irrun_dtype dtype = decoder_type(matrix);
    size_t n = matrix->group, n_groups = matrix->k / n;
    size_t padded = compressed_group_floats(matrix);
    for (size_t group = 0; group < n_groups; group++) {
        const float *from = x + group * n;
        float *at = to + group * padded;
        size_t left = arrange_chunks(dtype, chunk_positions(dtype, true), false, &from, n, &at);
        arrange_chunks(dtype, chunk_positions(dtype, false), true, &from, left, &at);
    }
}

#endif
