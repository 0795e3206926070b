/* The vector functions of the kernels for AVX-512. vector_scalar.h specifies them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_AVX512_H
#define IRRUN_KERNELS_VECTOR_AVX512_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/inline.h"

#ifdef __AVX512F__
#include <immintrin.h>

#define VECTOR_LANES 16
#define VECTOR_REGISTERS 32
#define VECTOR_HAS_FMA 1
#define VECTOR_HAS_MASK_REGISTERS
#define VECTOR_HAS_MASKED_MEMORY
#define VECTOR_HAS_MANTISSA
#define VECTOR_HAS_SCALE
#define VECTOR_HAS_STREAM
#define VECTOR_HAS_F64_MIN_MAX
typedef __m512 vec;
typedef __mmask16 vec_mask;
typedef __m512i bits;

#define VECTOR_HAS_LOAD_F64_OF_F32
ALWAYS_INLINE __m512d vec_f64_load_f32(const float *at)
{
    return _mm512_cvtps_pd(
        _mm256_loadu_ps(at)); /* gcc compiles the generic function to several instructions */
}

#include "kernels/vector_operators_body.h"

#define MM(name) _mm512_##name
#define MM_ROUND _mm512_roundscale_ps
#include "kernels/vector_x86_body.h"

#define COMPARISON(name, predicate)                                                                \
    ALWAYS_INLINE vec_mask vec_##name(vec a, vec b)                                                \
    {                                                                                              \
        return _mm512_cmp_ps_mask(a, b, predicate);                                                \
    }
COMPARISON(equal, _CMP_EQ_OQ)
COMPARISON(not_equal, _CMP_NEQ_UQ)
COMPARISON(less, _CMP_LT_OQ)
COMPARISON(less_equal, _CMP_LE_OQ)
COMPARISON(greater, _CMP_GT_OQ)
COMPARISON(greater_equal, _CMP_GE_OQ)
#undef COMPARISON

ALWAYS_INLINE vec vec_select(vec_mask mask, vec a, vec b)
{
    return _mm512_mask_blend_ps(mask, b, a);
}
ALWAYS_INLINE vec_mask mask_set1(uint8_t byte)
{
    return (vec_mask)(byte ? 0xFFFF : 0);
}

/* Returns the mask of the first n lanes. Masked loads set the remaining lanes to 0, and do not
 * access their memory. */
ALWAYS_INLINE __mmask16 first_lanes(size_t n)
{
    return (__mmask16)((1U << n) - 1);
}

ALWAYS_INLINE vec vec_load_first(const void *at, size_t n)
{
    return _mm512_maskz_loadu_ps(first_lanes(n), at);
}

/* Loads the lanes whose bits are set. Sets the remaining lanes to 0, and does not access their
 * memory. */
ALWAYS_INLINE vec vec_load_where(const void *at, unsigned set)
{
    return _mm512_maskz_loadu_ps((__mmask16)set, at);
}

/* Returns x in the lanes whose bits are set, and 0 in the remaining lanes. The asm keeps the
 * compiler from merging the blend with a load: a masked load takes several times as long as both
 * instructions. */
ALWAYS_INLINE vec vec_where(vec x, unsigned set)
{
    __asm__("" : "+v"(x));
    return _mm512_maskz_mov_ps((__mmask16)set, x);
}

ALWAYS_INLINE void vec_store_first(void *at, vec x, size_t n)
{
    _mm512_mask_storeu_ps(at, first_lanes(n), x);
}

/* Booleans are bytes. Any byte that is not zero is true, and true is written as 1. */
ALWAYS_INLINE vec_mask mask_load(const void *at)
{
    __m128i bytes = _mm_loadu_si128(at);
    return _mm_test_epi8_mask(bytes, bytes);
}

ALWAYS_INLINE void mask_store(void *at, vec_mask mask)
{
    _mm_storeu_si128(at, _mm_maskz_set1_epi8(mask, 1));
}

ALWAYS_INLINE vec_mask mask_load_first(const void *at, size_t n)
{
    __m128i bytes = _mm_maskz_loadu_epi8(first_lanes(n), at);
    return _mm_test_epi8_mask(bytes, bytes);
}

ALWAYS_INLINE void mask_store_first(void *at, vec_mask mask, size_t n)
{
    _mm_mask_storeu_epi8(at, first_lanes(n), _mm_maskz_set1_epi8(mask, 1));
}

/* Returns x * 2^n for an integer n. */
ALWAYS_INLINE vec vec_scale(vec x, vec n)
{
    return _mm512_scalef_ps(x, n);
}

/* Splits positive finite x into m * 2^exponent, with m in 0.75 ... 1.5. */
ALWAYS_INLINE vec vec_mantissa(vec x, vec *exponent)
{
    vec m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src), one = vec_set1(1.0F);
    vec e = _mm512_getexp_ps(x);
    *exponent = _mm512_mask_add_ps(e, _mm512_cmp_ps_mask(m, one, _CMP_LT_OQ), e, one);
    return m;
}

#define VECTOR_HAS_F16

ALWAYS_INLINE vec vec_load_f16(const void *at)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(at));
}

/* Return elements 0, 2, 4 ... (vec_even) or 1, 3, 5 ... (vec_odd) of a, then those of b. */
ALWAYS_INLINE vec vec_even(vec a, vec b)
{
    __m512i i = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(a, i, b);
}
ALWAYS_INLINE vec vec_odd(vec a, vec b)
{
    __m512i i = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_ps(a, i, b);
}

/* Transposes: lane i of row j becomes lane j of row i. */
ALWAYS_INLINE void vec_transpose(vec rows[VECTOR_LANES])
{
    vec fours[16]; /* j + i: columns i, i + 4, i + 8, i + 12 of rows j ... j + 3 */
    UNROLL
    for (int j = 0; j < 16; j += 4) {
        vec a = _mm512_unpacklo_ps(rows[j], rows[j + 1]);
        vec b = _mm512_unpackhi_ps(rows[j], rows[j + 1]);
        vec c = _mm512_unpacklo_ps(rows[j + 2], rows[j + 3]);
        vec d = _mm512_unpackhi_ps(rows[j + 2], rows[j + 3]);
        fours[j] = _mm512_shuffle_ps(a, c, 0x44);
        fours[j + 1] = _mm512_shuffle_ps(a, c, 0xEE);
        fours[j + 2] = _mm512_shuffle_ps(b, d, 0x44);
        fours[j + 3] = _mm512_shuffle_ps(b, d, 0xEE);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        vec a = _mm512_shuffle_f32x4(fours[i], fours[i + 4], 0x88);
        vec b = _mm512_shuffle_f32x4(fours[i], fours[i + 4], 0xDD);
        vec c = _mm512_shuffle_f32x4(fours[i + 8], fours[i + 12], 0x88);
        vec d = _mm512_shuffle_f32x4(fours[i + 8], fours[i + 12], 0xDD);
        rows[i] = _mm512_shuffle_f32x4(a, c, 0x88);
        rows[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
        rows[i + 8] = _mm512_shuffle_f32x4(a, c, 0xDD);
        rows[i + 12] = _mm512_shuffle_f32x4(b, d, 0xDD);
    }
}

/* Interleaves the lanes of a and b: a0, b0, a1, b1 ... */
ALWAYS_INLINE void vec_interleave(vec a, vec b, vec to[2])
{
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    to[0] = _mm512_permutex2var_ps(a, low, b);
    to[1] = _mm512_permutex2var_ps(a, high, b);
}

ALWAYS_INLINE __m256 add_halves(vec x)
{
    return _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
}

/* Stores the sum of the lanes of each of the four vectors. */
ALWAYS_INLINE void vec_store_sums(float to[4], vec a, vec b, vec c, vec d)
{
    __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(add_halves(a), add_halves(b)),
                                  _mm256_hadd_ps(add_halves(c), add_halves(d)));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
}

/* The level for products of one or two rows by f16 weights, which are limited by the conversion.
 * Zen 4 converts 1.5 times faster into ymm registers (52 G elements per second at 3.7 GHz) than
 * into zmm (35 G); on Zen 5, ymm is almost as fast as zmm. */
#define VECTOR_FEW_F16_ROWS avx2

#define VECTOR_HAS_LOOKUP

/* Returns, in each lane, the table element that the low 4 bits of the lane of `at` select. */
ALWAYS_INLINE vec vec_lookup(vec table, vec_i32 at)
{
    return _mm512_permutexvar_ps((__m512i)at, table);
}

/* Each lane of a and b holds two 16-bit integers. Adds both products to the lane of sum. */
ALWAYS_INLINE vec_i32 vec_i32_dot_i16(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return sum + (vec_i32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

/* Load and store one byte per lane. Stored values must be in 0 ... 255. */
ALWAYS_INLINE vec_i32 vec_i32_load_u8(const void *at)
{
    return (vec_i32)_mm512_cvtepu8_epi32(_mm_loadu_si128(at));
}
ALWAYS_INLINE void vec_i32_store_u8(void *at, vec_i32 x)
{
    _mm_storeu_si128(at, _mm512_cvtepi32_epi8((__m512i)x));
}

/* Returns, per element of `width` bytes, `then` if its condition (a byte) is not 0, and `other` if
 * it is 0. */
ALWAYS_INLINE bits bits_choose(const unsigned char *condition, bits then, bits other, size_t width)
{
    if (width == 1) {
        __m512i all = bits_load(condition);
        return _mm512_mask_blend_epi8(_mm512_test_epi8_mask(all, all), other, then);
    }
    if (width == 2) {
        __m256i bytes = _mm256_loadu_si256((const void *)condition);
        return _mm512_mask_blend_epi16(_mm256_test_epi8_mask(bytes, bytes), other, then);
    }
    if (width == 4) {
        __m128i bytes = _mm_loadu_si128((const void *)condition);
        return _mm512_mask_blend_epi32(_mm_test_epi8_mask(bytes, bytes), other, then);
    }
    __m128i bytes = _mm_loadl_epi64((const void *)condition);
    return _mm512_mask_blend_epi64((__mmask8)_mm_test_epi8_mask(bytes, bytes), other, then);
}

#endif
#endif
