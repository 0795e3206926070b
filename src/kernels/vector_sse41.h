/* Vectors of f32 and masks in SSE4.1, in the words that the bodies of kernels are written in. See
 * level.h.
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
typedef __m128 vec;
typedef __m128 vec_mask; /* all ones or all zeros in a lane */

ALWAYS_INLINE vec vec_zero(void)
{
    return _mm_setzero_ps();
}
ALWAYS_INLINE vec vec_set1(float x)
{
    return _mm_set1_ps(x);
}
ALWAYS_INLINE vec vec_load(const void *at)
{
    return _mm_loadu_ps(at);
}
ALWAYS_INLINE void vec_store(void *at, vec x)
{
    _mm_storeu_ps(at, x);
}
ALWAYS_INLINE vec vec_add(vec a, vec b)
{
    return _mm_add_ps(a, b);
}
ALWAYS_INLINE vec vec_sub(vec a, vec b)
{
    return _mm_sub_ps(a, b);
}
ALWAYS_INLINE vec vec_mul(vec a, vec b)
{
    return _mm_mul_ps(a, b);
}
ALWAYS_INLINE vec vec_div(vec a, vec b)
{
    return _mm_div_ps(a, b);
}
/* a * b + c, c - a * b, in two roundings. */
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm_add_ps(_mm_mul_ps(a, b), c);
}
ALWAYS_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm_sub_ps(c, _mm_mul_ps(a, b));
}
/* If either is NaN, or both are zeros, b. */
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return _mm_min_ps(a, b);
}
ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return _mm_max_ps(a, b);
}
ALWAYS_INLINE vec vec_sqrt(vec x)
{
    return _mm_sqrt_ps(x);
}
ALWAYS_INLINE vec vec_floor(vec x)
{
    return _mm_floor_ps(x);
}
ALWAYS_INLINE vec vec_ceiling(vec x)
{
    return _mm_ceil_ps(x);
}
ALWAYS_INLINE vec vec_round(vec x)
{
    return _mm_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
ALWAYS_INLINE vec vec_abs(vec x)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0F), x);
}
ALWAYS_INLINE vec vec_negative(vec x)
{
    return _mm_xor_ps(_mm_set1_ps(-0.0F), x);
}

ALWAYS_INLINE vec_mask vec_equal(vec a, vec b)
{
    return _mm_cmpeq_ps(a, b);
}
ALWAYS_INLINE vec_mask vec_not_equal(vec a, vec b)
{
    return _mm_cmpneq_ps(a, b);
}
ALWAYS_INLINE vec_mask vec_less(vec a, vec b)
{
    return _mm_cmplt_ps(a, b);
}
ALWAYS_INLINE vec_mask vec_less_equal(vec a, vec b)
{
    return _mm_cmple_ps(a, b);
}
ALWAYS_INLINE vec_mask vec_greater(vec a, vec b)
{
    return _mm_cmpgt_ps(a, b);
}
ALWAYS_INLINE vec_mask vec_greater_equal(vec a, vec b)
{
    return _mm_cmpge_ps(a, b);
}
ALWAYS_INLINE vec vec_select(vec_mask mask, vec a, vec b)
{
    return _mm_blendv_ps(b, a, mask);
}
ALWAYS_INLINE vec_mask mask_and(vec_mask a, vec_mask b)
{
    return _mm_and_ps(a, b);
}
ALWAYS_INLINE vec_mask mask_or(vec_mask a, vec_mask b)
{
    return _mm_or_ps(a, b);
}
ALWAYS_INLINE vec_mask mask_xor(vec_mask a, vec_mask b)
{
    return _mm_xor_ps(a, b);
}
ALWAYS_INLINE vec_mask mask_set1(uint8_t byte)
{
    return _mm_castsi128_ps(_mm_set1_epi32(byte ? -1 : 0));
}
ALWAYS_INLINE vec_mask mask_not(vec_mask a)
{
    return mask_xor(a, mask_set1(1));
}

/* The first n lanes; the others are 0, and their memory is left alone. */
ALWAYS_INLINE vec vec_load_first(const void *at, size_t n)
{
    float lanes[VECTOR_LANES] = {0};
    memcpy(lanes, at, n * sizeof *lanes);
    return vec_load(lanes);
}

ALWAYS_INLINE void vec_store_first(void *at, vec x, size_t n)
{
    float lanes[VECTOR_LANES];
    vec_store(lanes, x);
    memcpy(at, lanes, n * sizeof *lanes);
}

/* x where the bits are set, elsewhere 0. */
ALWAYS_INLINE vec vec_where(vec x, unsigned bits)
{
    __m128i lane = _mm_setr_epi32(1, 2, 4, 8);
    __m128i is_set = _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)bits), lane), lane);
    return _mm_and_ps(x, _mm_castsi128_ps(is_set));
}

/* The lanes whose bits are set; the others are 0, and their memory is left alone. */
ALWAYS_INLINE vec vec_load_where(const void *at, unsigned bits)
{
    if (bits == (1U << VECTOR_LANES) - 1)
        return vec_load(at);
    float lanes[VECTOR_LANES] = {0};
    for (int lane = 0; lane < VECTOR_LANES; lane++)
        if (bits >> lane & 1)
            memcpy(lanes + lane, (const char *)at + (size_t)lane * sizeof *lanes, sizeof *lanes);
    return vec_load(lanes);
}

/* The sums of the lanes of each. */
ALWAYS_INLINE void vec_store_sums(float to[4], vec a, vec b, vec c, vec d)
{
    _mm_storeu_ps(to, _mm_hadd_ps(_mm_hadd_ps(a, b), _mm_hadd_ps(c, d)));
}

/* Booleans: a byte each; any that is not zero is true, and true is written as 1. */
ALWAYS_INLINE vec_mask mask_load_first(const void *at, size_t n)
{
    int bytes = 0;
    memcpy(&bytes, at, n);
    __m128i is_false = _mm_cmpeq_epi8(_mm_cvtsi32_si128(bytes), _mm_setzero_si128());
    return mask_not(_mm_castsi128_ps(_mm_cvtepi8_epi32(is_false)));
}

ALWAYS_INLINE void mask_store_first(void *at, vec_mask mask, size_t n)
{
    __m128i words = _mm_packs_epi32(_mm_castps_si128(mask), _mm_setzero_si128());
    int bytes = _mm_cvtsi128_si32(_mm_packs_epi16(words, words)) & 0x01010101;
    memcpy(at, &bytes, n);
}

ALWAYS_INLINE vec_mask mask_load(const void *at)
{
    return mask_load_first(at, VECTOR_LANES);
}

ALWAYS_INLINE void mask_store(void *at, vec_mask mask)
{
    mask_store_first(at, mask, VECTOR_LANES);
}

/* 2^n for whole n in -127 ... 127; the least gives 0. */
ALWAYS_INLINE vec vec_exp2(vec n)
{
    __m128i exponent = _mm_add_epi32(_mm_cvtps_epi32(n), _mm_set1_epi32(127));
    return _mm_castsi128_ps(_mm_slli_epi32(exponent, 23));
}

/* x = m * 2^exponent with m in 0.75 ... 1.5, for positive finite x; 0x3F400000 is 0.75. */
ALWAYS_INLINE vec vec_mantissa(vec x, vec *exponent)
{
    __m128 is_denormal = _mm_cmplt_ps(x, _mm_set1_ps(0x1p-126F));
    x = _mm_blendv_ps(x, _mm_mul_ps(x, _mm_set1_ps(0x1p23F)), is_denormal);
    __m128i bits = _mm_castps_si128(x);
    __m128i e = _mm_srai_epi32(_mm_sub_epi32(bits, _mm_set1_epi32(0x3F400000)), 23);
    *exponent = _mm_sub_ps(_mm_cvtepi32_ps(e), _mm_and_ps(is_denormal, _mm_set1_ps(23.0F)));
    return _mm_castsi128_ps(_mm_sub_epi32(bits, _mm_slli_epi32(e, 23)));
}

ALWAYS_INLINE vec vec_with_sign_of(vec magnitude, vec x)
{
    return _mm_or_ps(magnitude, _mm_and_ps(x, _mm_set1_ps(-0.0F)));
}

/* Bits of any type. */
typedef __m128i bits;

ALWAYS_INLINE bits bits_load(const void *at)
{
    return _mm_loadu_si128(at);
}
ALWAYS_INLINE void bits_store(void *at, bits x)
{
    _mm_storeu_si128(at, x);
}
/* Past the caches, to an address divisible by the size, and in place behind a fence. */
ALWAYS_INLINE void bits_stream(void *at, bits x)
{
    _mm_stream_si128(at, x);
}
ALWAYS_INLINE void bits_fence(void)
{
    _mm_sfence();
}

/* All ones where a condition, of a byte, is false, for as many elements of `width` bytes as there
 * are. */
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
