/* The vector functions of the kernels for SSE4.1. vector_scalar.h specifies them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_SSE41_H
#define IRRUN_KERNELS_VECTOR_SSE41_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/inline.h"

#ifdef __SSE4_1__
#include <smmintrin.h>
#include <string.h>

#define VECTOR_LANES 4
#define VECTOR_REGISTERS 16
#define VECTOR_HAS_FMA 0
#define VECTOR_HAS_STREAM
#define VECTOR_HAS_F64_MIN_MAX
typedef __m128 vec;
typedef __m128i vec_mask;
typedef __m128i bits;

#include "kernels/vector_operators_body.h"

#define MM(name) _mm_##name
#define MM_ROUND _mm_round_ps
#include "kernels/vector_x86_body.h"

ALWAYS_INLINE vec vec_select(vec_mask mask, vec a, vec b)
{
    return _mm_blendv_ps(b, a, _mm_castsi128_ps(mask));
}

/* Return elements 0, 2, 4 ... (vec_even) or 1, 3, 5 ... (vec_odd) of a, then those of b. */
ALWAYS_INLINE vec vec_even(vec a, vec b)
{
    return _mm_shuffle_ps(a, b, 0x88);
}
ALWAYS_INLINE vec vec_odd(vec a, vec b)
{
    return _mm_shuffle_ps(a, b, 0xDD);
}

/* Transposes: lane i of row j becomes lane j of row i. */
ALWAYS_INLINE void vec_transpose(vec rows[VECTOR_LANES])
{
    _MM_TRANSPOSE4_PS(rows[0], rows[1], rows[2], rows[3]);
}

/* Interleaves the lanes of a and b: a0, b0, a1, b1 ... */
ALWAYS_INLINE void vec_interleave(vec a, vec b, vec to[2])
{
    to[0] = _mm_unpacklo_ps(a, b);
    to[1] = _mm_unpackhi_ps(a, b);
}

/* Stores the sum of the lanes of each of the four vectors. */
ALWAYS_INLINE void vec_store_sums(float to[4], vec a, vec b, vec c, vec d)
{
    _mm_storeu_ps(to, _mm_hadd_ps(_mm_hadd_ps(a, b), _mm_hadd_ps(c, d)));
}

ALWAYS_INLINE vec_mask mask_load_first(const void *at, size_t n)
{
    int bytes = 0;
    memcpy(&bytes, at, n);
    __m128i is_false = _mm_cmpeq_epi8(_mm_cvtsi32_si128(bytes), _mm_setzero_si128());
    return mask_not(_mm_cvtepi8_epi32(is_false));
}

ALWAYS_INLINE void mask_store_first(void *at, vec_mask mask, size_t n)
{
    __m128i words = _mm_packs_epi32(mask, _mm_setzero_si128());
    int bytes = _mm_cvtsi128_si32(_mm_packs_epi16(words, words)) & 0x01010101;
    memcpy(at, &bytes, n);
}

/* Each lane of a and b holds two 16-bit integers. Adds both products to the lane of sum. */
ALWAYS_INLINE vec_i32 vec_i32_dot_i16(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return sum + (vec_i32)_mm_madd_epi16((__m128i)a, (__m128i)b);
}

/* Load and store one byte per lane. Stored values must be in 0 ... 255. */
ALWAYS_INLINE vec_i32 vec_i32_load_u8(const void *at)
{
    int bytes;
    memcpy(&bytes, at, sizeof bytes);
    return (vec_i32)_mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes));
}
ALWAYS_INLINE void vec_i32_store_u8(void *at, vec_i32 x)
{
    __m128i words = _mm_packus_epi32((__m128i)x, (__m128i)x);
    int bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    memcpy(at, &bytes, sizeof bytes);
}

/* Returns an element of `width` bytes per condition (a byte): all ones if the condition is false,
 * otherwise zeros. */
ALWAYS_INLINE bits bits_false(const unsigned char *condition, size_t width)
{
    const __m128i zero = _mm_setzero_si128();
    if (width == 1)
        return _mm_cmpeq_epi8(bits_load(condition), zero);
    if (width == 2)
        return _mm_cvtepi8_epi16(_mm_cmpeq_epi8(_mm_loadl_epi64((const void *)condition), zero));
    int few = 0;
    memcpy(&few, condition, sizeof(bits) / width);
    __m128i is_false = _mm_cmpeq_epi8(_mm_cvtsi32_si128(few), zero);
    return width == 4 ? _mm_cvtepi8_epi32(is_false) : _mm_cvtepi8_epi64(is_false);
}

ALWAYS_INLINE bits bits_choose(const unsigned char *condition, bits then, bits other, size_t width)
{
    return _mm_blendv_epi8(then, other, bits_false(condition, width));
}

#endif
#endif
