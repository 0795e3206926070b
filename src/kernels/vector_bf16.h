/* The level bf16: the vector functions of AVX-512 with VNNI, and those of BF16, which multiply bf16
 * pairs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_BF16_H
#define IRRUN_KERNELS_VECTOR_BF16_H

#include "kernels/vector_vnni.h"

#ifdef __AVX512BF16__
#define VECTOR_HAS_BF16

/* Two bf16 numbers, the first in the low 16 bits. may_alias, because arrays of float hold pairs. */
typedef int32_t bf16_pair __attribute__((may_alias));

/* Rounds n floats to bf16, to nearest even. Denormals become zero. If n is odd, the second number
 * of the last pair is zero. */
static inline void vec_round_pairs(const void *from, void *to, size_t n)
{
    const float *floats = from;
    bf16_pair *pairs = to;
    size_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES)
        _mm512_storeu_si512(pairs + i / 2,
                            (__m512i)_mm512_cvtne2ps_pbh(vec_load(floats + i + VECTOR_LANES),
                                                         vec_load(floats + i)));
    if (i == n)
        return;
    uint32_t mask = ((uint32_t)1 << (n - i)) - 1;
    __m512 low = _mm512_maskz_loadu_ps((__mmask16)mask, floats + i);
    __m512 high = _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), floats + i + VECTOR_LANES);
    _mm512_mask_storeu_epi32(pairs + i / 2, first_lanes((n - i + 1) / 2),
                             (__m512i)_mm512_cvtne2ps_pbh(high, low));
}

ALWAYS_INLINE __m512i interleave_bf16(vec first, vec second)
{
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(second, first));
}

/* Rounds n floats of each of two rows, and writes pairs of one number from each row. second NULL:
 * zeros. */
static inline void vec_round_rows(const float *first, const float *second, void *to, size_t n)
{
    bf16_pair *pairs = to;
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        _mm512_storeu_si512(pairs + i, interleave_bf16(vec_load(first + i),
                                                       second ? vec_load(second + i) : vec_zero()));
    if (i == n)
        return;
    vec rest = second ? vec_load_first(second + i, n - i) : vec_zero();
    _mm512_mask_storeu_epi32(pairs + i, first_lanes(n - i),
                             interleave_bf16(vec_load_first(first + i, n - i), rest));
}

/* Rounds n pixels of n_channels planes to pairs of channels: to[i * pixel] is the first pair of
 * pixel i. */
static inline void vec_round_planes(const float *from, size_t plane, size_t n_channels, float *to,
                                    size_t pixel, size_t n)
{
    for (size_t begin = 0; begin < n; begin += VECTOR_LANES) {
        size_t n_pixels = n - begin < VECTOR_LANES ? n - begin : VECTOR_LANES;
        for (size_t channel = 0; channel < n_channels; channel += 2 * VECTOR_LANES) {
            size_t left = n_channels - channel;
            size_t n_pairs = left < 2 * VECTOR_LANES ? (left + 1) / 2 : VECTOR_LANES;
            vec rows[VECTOR_LANES];
            UNROLL
            for (size_t i = 0; i < VECTOR_LANES; i++) {
                const float *at = from + (channel + 2 * i) * plane + begin;
                vec first = 2 * i < left ? vec_load_first(at, n_pixels) : vec_zero();
                vec second = 2 * i + 1 < left ? vec_load_first(at + plane, n_pixels) : vec_zero();
                rows[i] = (vec)interleave_bf16(first, second);
            }
            vec_transpose(rows);
            UNROLL
            for (size_t i = 0; i < VECTOR_LANES; i++)
                if (i < n_pixels)
                    vec_store_first(to + (begin + i) * pixel + channel / 2, rows[i], n_pairs);
        }
    }
}

/* Adds the two products of the pairs of a and b to each lane of sum. Denormals count as zeros. */
ALWAYS_INLINE vec vec_dot(vec sum, vec a, vec b)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}
ALWAYS_INLINE vec vec_dot_pairs(vec sum, vec pairs, bf16_pair input)
{
    return vec_dot(sum, pairs, (vec)_mm512_set1_epi32(input));
}

#endif
#endif
