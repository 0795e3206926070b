/* The vector functions of the kernels for AVX2. vector_scalar.h specifies them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_AVX2_H
#define IRRUN_KERNELS_VECTOR_AVX2_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/inline.h"

#ifdef __AVX2__
#include <immintrin.h>
#include <string.h>

#define VECTOR_LANES 8
#define VECTOR_REGISTERS 16
#define VECTOR_HAS_FMA 1
#define VECTOR_HAS_MASKED_MEMORY
#define VECTOR_HAS_STREAM
#define VECTOR_HAS_F64_MIN_MAX
typedef __m256 vec;
typedef __m256i vec_mask;
typedef __m256i bits;

#define VECTOR_HAS_LOAD_F64_OF_F32
ALWAYS_INLINE __m256d vec_f64_load_f32(const float *at)
{
    return _mm256_cvtps_pd(
        _mm_loadu_ps(at)); /* gcc compiles the generic function to several instructions */
}

#include "kernels/vector_operators_body.h"

#define MM(name) _mm256_##name
#define MM_ROUND _mm256_round_ps
#include "kernels/vector_x86_body.h"

ALWAYS_INLINE vec vec_select(vec_mask mask, vec a, vec b)
{
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(mask));
}

/* Returns the mask of the first n lanes. Masked loads set the remaining lanes to 0, and do not
 * access their memory. */
ALWAYS_INLINE __m256i first_lanes(size_t n)
{
    __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lanes);
}

ALWAYS_INLINE vec vec_load_first(const void *at, size_t n)
{
    return _mm256_maskload_ps(at, first_lanes(n));
}

ALWAYS_INLINE __m256i lanes_of_bits(unsigned set)
{
    __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)set), lane), lane);
}

/* Loads the lanes whose bits are set. Sets the remaining lanes to 0, and does not access their
 * memory. */
ALWAYS_INLINE vec vec_load_where(const void *at, unsigned set)
{
    return _mm256_maskload_ps(at, lanes_of_bits(set));
}

/* Returns x in the lanes whose bits are set, and 0 in the remaining lanes. */
ALWAYS_INLINE vec vec_where(vec x, unsigned set)
{
    return _mm256_and_ps(x, _mm256_castsi256_ps(lanes_of_bits(set)));
}

ALWAYS_INLINE void vec_store_first(void *at, vec x, size_t n)
{
    _mm256_maskstore_ps(at, first_lanes(n), x);
}

ALWAYS_INLINE vec_mask mask_of_bytes(__m128i bytes)
{
    __m128i is_false = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
    return mask_not(_mm256_cvtepi8_epi32(is_false));
}

ALWAYS_INLINE __m128i bytes_of_mask(vec_mask mask)
{
    __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(mask), _mm256_extracti128_si256(mask, 1));
    return _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
}

/* Booleans are bytes. Any byte that is not zero is true, and true is written as 1. */
ALWAYS_INLINE vec_mask mask_load(const void *at)
{
    return mask_of_bytes(_mm_loadl_epi64(at));
}

ALWAYS_INLINE void mask_store(void *at, vec_mask mask)
{
    _mm_storel_epi64(at, bytes_of_mask(mask));
}

ALWAYS_INLINE vec_mask mask_load_first(const void *at, size_t n)
{
    uint64_t bytes = 0;
    memcpy(&bytes, at, n);
    return mask_of_bytes(_mm_cvtsi64_si128((long long)bytes));
}

ALWAYS_INLINE void mask_store_first(void *at, vec_mask mask, size_t n)
{
    long long bytes = _mm_cvtsi128_si64(bytes_of_mask(mask));
    memcpy(at, &bytes, n);
}

#define VECTOR_HAS_F16

ALWAYS_INLINE vec vec_load_f16(const void *at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128(at));
}

/* Return elements 0, 2, 4 ... (vec_even) or 1, 3, 5 ... (vec_odd) of a, then those of b. */
ALWAYS_INLINE vec vec_even(vec a, vec b)
{
    __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xD8));
}
ALWAYS_INLINE vec vec_odd(vec a, vec b)
{
    __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xDD));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xD8));
}

/* Transposes: lane i of row j becomes lane j of row i. */
ALWAYS_INLINE void vec_transpose(vec rows[VECTOR_LANES])
{
    vec fours[8]; /* j + i: columns i and i + 4 of rows j ... j + 3 */
    UNROLL
    for (int j = 0; j < 8; j += 4) {
        vec a = _mm256_unpacklo_ps(rows[j], rows[j + 1]);
        vec b = _mm256_unpackhi_ps(rows[j], rows[j + 1]);
        vec c = _mm256_unpacklo_ps(rows[j + 2], rows[j + 3]);
        vec d = _mm256_unpackhi_ps(rows[j + 2], rows[j + 3]);
        fours[j] = _mm256_shuffle_ps(a, c, 0x44);
        fours[j + 1] = _mm256_shuffle_ps(a, c, 0xEE);
        fours[j + 2] = _mm256_shuffle_ps(b, d, 0x44);
        fours[j + 3] = _mm256_shuffle_ps(b, d, 0xEE);
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        rows[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
        rows[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
    }
}

/* Interleaves the lanes of a and b: a0, b0, a1, b1 ... */
ALWAYS_INLINE void vec_interleave(vec a, vec b, vec to[2])
{
    vec low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
    to[0] = _mm256_permute2f128_ps(low, high, 0x20);
    to[1] = _mm256_permute2f128_ps(low, high, 0x31);
}

/* Stores the sum of the lanes of each of the four vectors. */
ALWAYS_INLINE void vec_store_sums(float to[4], vec a, vec b, vec c, vec d)
{
    __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
}

/* Each lane of a and b holds two 16-bit integers. Adds both products to the lane of sum. */
ALWAYS_INLINE vec_i32 vec_i32_dot_i16(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return sum + (vec_i32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

/* Load and store one byte per lane. Stored values must be in 0 ... 255. */
ALWAYS_INLINE vec_i32 vec_i32_load_u8(const void *at)
{
    return (vec_i32)_mm256_cvtepu8_epi32(_mm_loadl_epi64(at));
}
ALWAYS_INLINE void vec_i32_store_u8(void *at, vec_i32 x)
{
    __m128i low = _mm256_castsi256_si128((__m256i)x);
    __m128i words = _mm_packus_epi32(low, _mm256_extracti128_si256((__m256i)x, 1));
    _mm_storel_epi64(at, _mm_packus_epi16(words, words));
}

/* Returns an element of `width` bytes per condition (a byte): all ones if the condition is false,
 * otherwise zeros. */
ALWAYS_INLINE bits bits_false(const unsigned char *condition, size_t width)
{
    const __m128i zero = _mm_setzero_si128();
    if (width == 1)
        return _mm256_cmpeq_epi8(bits_load(condition), _mm256_setzero_si256());
    if (width == 2)
        return _mm256_cvtepi8_epi16(_mm_cmpeq_epi8(_mm_loadu_si128((const void *)condition), zero));
    if (width == 4)
        return _mm256_cvtepi8_epi32(_mm_cmpeq_epi8(_mm_loadl_epi64((const void *)condition), zero));
    int four;
    memcpy(&four, condition, sizeof four);
    return _mm256_cvtepi8_epi64(_mm_cmpeq_epi8(_mm_cvtsi32_si128(four), zero));
}

ALWAYS_INLINE bits bits_choose(const unsigned char *condition, bits then, bits other, size_t width)
{
    return _mm256_blendv_epi8(then, other, bits_false(condition, width));
}

#endif
#endif
