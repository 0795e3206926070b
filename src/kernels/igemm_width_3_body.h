/* Micro-kernels of igemm_f32.h for filters of width 3 and neighbouring positions of a row: each
 * input is loaded once for all positions that read it. With one vector of channels, the loads of
 * inputs would otherwise take longer than the FMAs.
 *
 *     stride 1: 6 inputs for 4 positions         stride 2: 7 inputs for 3 positions
 *
 *       a b c d e f                                a b c d e f g
 *       0 1 2 . . .                                0 1 2 . . . .
 *       . 0 1 2 . .                                . . 0 1 2 . .
 *       . . 0 1 2 .                                . . . . 0 1 2
 *       . . . 0 1 2
 *
 * Letters are inputs; each line is a position with its three taps. The terms of a sum are added in
 * the same order as in the remaining micro-kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/igemm_f32.h"

#ifndef VECTOR_LANES
#error "include kernels/level.h first"
#endif

/* Adds a term or, in bf16, the two terms of a pair. */
ALWAYS_INLINE vec add_product(vec sum, vec weights, vec input, bool are_pairs)
{
#ifdef VECTOR_HAS_BF16
    if (are_pairs)
        return vec_dot(sum, weights, input);
#endif
    (void)are_pairs;
    return vec_fma(input, weights, sum);
}

/* Computes a tile. All parameters except args are constants in all calls. The asm keeps the
 * distances of five inputs in registers; otherwise gcc would compute each address again, on the
 * ports that the FMAs need. Without vec_keep, gcc would compute the last sum in the register of the
 * input, and then move it. */
ALWAYS_INLINE void add_width_3(const struct igemm_channels_args *args, size_t mr, size_t stride,
                               bool are_pairs, vec sums[][IGEMM_MAX_VECTORS])
{
    const float *a = args->a + args->positions[0], *b = args->b;
    const size_t pixel = args->pixel, n_inputs = (mr - 1) * stride + 3;
    size_t distances[5];

    UNROLL
    for (size_t j = 0; j < 5; j++) {
        distances[j] = j * pixel;
        if (j > 0)
            __asm__("" : "+r"(distances[j]));
    }
    UNROLL
    for (size_t r = 0; r < mr; r++)
        sums[r][0] = vec_zero();
    for (size_t k = 0; k < args->k; k += 3, b += 3 * VECTOR_LANES) {
        const float *at = a + args->indirection[k].offset;
        vec weights[3];
        UNROLL
        for (size_t t = 0; t < 3; t++)
            weights[t] = vec_in_register(vec_load(b + t * VECTOR_LANES));
        UNROLL
        for (size_t i = 0; i < n_inputs; i += 5, at += 5 * pixel) {
            __asm__("" : "+r"(at));
            UNROLL
            for (size_t j = 0; j < 5; j++) {
                if (i + j >= n_inputs)
                    continue;
                vec input = vec_in_register(vec_set1_at(at + distances[j]));
                UNROLL
                for (size_t t = 3; t-- > 0;) {
                    size_t r = (i + j - t) / stride;
                    if (i + j >= t && (i + j - t) % stride == 0 && r < mr)
                        sums[r][0] = add_product(sums[r][0], weights[t], input, are_pairs);
                }
                vec_keep(input);
            }
        }
    }
}
