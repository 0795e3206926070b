/* The level vnni: the vector functions of AVX-512, and those of VNNI, which multiply and add bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_VNNI_H
#define IRRUN_KERNELS_VECTOR_VNNI_H

#include "kernels/vector_avx512.h"

#ifdef __AVX512VNNI__
#define VECTOR_HAS_DOT_U8

/* Multiplies the four unsigned bytes of each lane of a by the signed bytes of b, and adds the
 * products to the lane of sum. */
ALWAYS_INLINE vec_i32 vec_i32_dot_u8(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return (vec_i32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}

/* Loads 16 bytes from each of four addresses. Lane i gets byte i from each address. */
ALWAYS_INLINE vec_i32 vec_i32_load_u8_rows(const uint8_t *const at[4])
{
    const __m512i quads = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m128i bytes = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m128i rows[4];
    memcpy(&rows[0], at[0], sizeof rows[0]);
    memcpy(&rows[1], at[1], sizeof rows[0]);
    memcpy(&rows[2], at[2], sizeof rows[0]);
    memcpy(&rows[3], at[3], sizeof rows[0]);
    __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(rows[0]), rows[1], 1);
    __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(rows[2]), rows[3], 1);
    __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    all = _mm512_permutexvar_epi32(quads, all);
    return (vec_i32)_mm512_shuffle_epi8(all, _mm512_broadcast_i32x4(bytes));
}

#endif
#endif
