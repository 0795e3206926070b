/* The vector functions of AVX-512 with VNNI and BF16, which multiplies pairs of bf16. See level.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_BF16_H
#define IRRUN_KERNELS_VECTOR_BF16_H

#include "kernels/vector_vnni.h"

#ifdef __AVX512BF16__
#define VECTOR_HAS_BF16

typedef int32_t bf16_pair; /* the first one in the low half */

/* Rounds n floats to bf16, to nearest even; denormals become zero. Writes whole groups of 16 pairs,
 * filled up with zeros. */
ALWAYS_INLINE void vec_round_pairs(bf16_pair *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i += 2 * VECTOR_LANES) {
        size_t left = n - i;
        __mmask32 mask = left < 32 ? ((__mmask32)1 << left) - 1 : (__mmask32)-1;
        __m512 low = _mm512_maskz_loadu_ps((__mmask16)mask, from + i);
        __m512 high = _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), from + i + VECTOR_LANES);
        _mm512_storeu_si512(to + i / 2, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
}

/* Adds to every lane of sum its two products of pairs. Denormals are zero. */
ALWAYS_INLINE vec vec_dot_pairs(vec sum, vec pairs, bf16_pair factor)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)pairs, (__m512bh)_mm512_set1_epi32(factor));
}

#endif
#endif
