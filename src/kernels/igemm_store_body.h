/* The last part of the micro-kernels of igemm_f32.h with channels in lanes: stores the sums or, for
 * a max pooling, the maxima.
 * SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>

#include "kernels/igemm_f32.h"

#ifndef VECTOR_LANES
#error "include kernels/level.h first"
#endif

/* mr and n_vectors are constants in all calls of these functions. */

/* Adds C if is_added, and loads the biases. -0 is the neutral element of addition. */
ALWAYS_INLINE void add_c_and_load_biases(const struct igemm_channels_args *args, size_t mr,
                                         size_t n_vectors, vec sums[][IGEMM_MAX_VECTORS],
                                         vec biases[])
{
    if (args->is_added) {
        UNROLL
        for (size_t r = 0; r < mr; r++) {
            UNROLL
            for (size_t v = 0; v < n_vectors; v++)
                sums[r][v] =
                    vec_add(vec_load(args->c + r * args->ldc + v * VECTOR_LANES), sums[r][v]);
        }
    }
    UNROLL
    for (size_t v = 0; v < n_vectors; v++)
        biases[v] =
            vec_in_register(args->bias ? vec_load(args->bias + v * VECTOR_LANES) : vec_set1(-0.0F));
}

/* Stores the sums, clamped. Reads *args before it writes C, because the compiler must assume that
 * they overlap. Stores each row before it adds the bias to the next one: the FMAs of the next tile
 * could not hide many stores in sequence. */
ALWAYS_INLINE void store_channels(const struct igemm_channels_args *args, size_t mr,
                                  size_t n_vectors, vec sums[][IGEMM_MAX_VECTORS])
{
    const size_t ldc = args->ldc;
    float *c = args->c;
    vec low = vec_set1(args->bounds ? args->bounds[0] : -INFINITY);
    vec high = vec_set1(args->bounds ? args->bounds[1] : INFINITY);
    vec biases[IGEMM_MAX_VECTORS];
    add_c_and_load_biases(args, mr, n_vectors, sums, biases);
    UNROLL
    for (size_t r = 0; r < mr; r++, c += ldc) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            vec_store(c + v * VECTOR_LANES, vec_max_min(vec_add(biases[v], sums[r][v]), low, high));
        __asm__ volatile("" : : : "memory");
    }
}

/* Clamps the sums and stores the maximum of every IGEMM_POOLED rows, a pooling window. */
ALWAYS_INLINE void store_maxima(const struct igemm_channels_args *args, size_t mr, size_t n_vectors,
                                vec sums[][IGEMM_MAX_VECTORS])
{
    const size_t ldc = args->ldc;
    float *to = args->maxima;
    vec low = vec_set1(args->bounds[0]), high = vec_set1(args->bounds[1]);
    vec biases[IGEMM_MAX_VECTORS];
    add_c_and_load_biases(args, mr, n_vectors, sums, biases);
    UNROLL
    for (size_t r = 0; r < mr; r += IGEMM_POOLED, to += ldc) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++) {
            vec maximum = vec_set1(-FLT_MAX);
            UNROLL
            for (size_t i = 0; i < IGEMM_POOLED; i++)
                maximum =
                    vec_max(vec_max_min(vec_add(biases[v], sums[r + i][v]), low, high), maximum);
            vec_store(to + v * VECTOR_LANES, maximum);
        }
    }
}
