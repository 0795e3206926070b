/* Functions of vectors of 32-bit integers, with the same results at every level: sums of products
 * of bytes, and conversions between bytes, sums and f32. Include after level.h. Sums wrap: they are
 * exact modulo 2^32.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_INTEGER_H
#define IRRUN_KERNELS_VECTOR_INTEGER_H

#include "kernels/level.h"

ALWAYS_INLINE vec_i32 vec_i32_load(const void *at)
{
    vec_i32 x;
    memcpy(&x, at, sizeof x);
    return x;
}
ALWAYS_INLINE vec_i32 vec_i32_set1(int32_t x)
{
    return (vec_i32){0} + x;
}
/* Loads four bytes into every lane. */
ALWAYS_INLINE vec_i32 vec_i32_set1_bytes(const void *at)
{
    int32_t x;
    memcpy(&x, at, sizeof x);
    return vec_i32_set1(x);
}
ALWAYS_INLINE void vec_i32_store_first(void *at, vec_i32 x, size_t n)
{
    vec_store_n(at, (vec)x, n);
}
/* Stores the first n lanes as bytes. Values are in 0 ... 255. */
ALWAYS_INLINE void vec_i32_store_u8_first(void *at, vec_i32 x, size_t n)
{
    if (n == VECTOR_LANES) {
        vec_i32_store_u8(at, x);
        return;
    }
    unsigned char bytes[VECTOR_LANES];
    vec_i32_store_u8(bytes, x);
    memcpy(at, bytes, n);
}
ALWAYS_INLINE vec vec_of_i32(vec_i32 x)
{
    return __builtin_convertvector(x, vec);
}
/* Rounds to the nearest integer, ties to even, as vec_round does. */
ALWAYS_INLINE vec_i32 vec_round_to_i32(vec x)
{
#ifdef MM
    return (vec_i32)MM(cvtps_epi32)(x);
#else
    return __builtin_convertvector(vec_round(x), vec_i32);
#endif
}

typedef int16_t vec_i16 __attribute__((vector_size(4 * VECTOR_LANES)));
typedef uint16_t vec_u16 __attribute__((vector_size(4 * VECTOR_LANES)));

/* A factor of vec_i32_dot_bytes: four bytes in every lane, unsigned in a, signed in b. */
#ifdef VECTOR_HAS_DOT_U8
struct bytes_factor {
    vec_i32 all;
};
ALWAYS_INLINE struct bytes_factor unsigned_factor(vec_i32 x)
{
    return (struct bytes_factor){x};
}
ALWAYS_INLINE struct bytes_factor signed_factor(vec_i32 x)
{
    return (struct bytes_factor){x};
}
ALWAYS_INLINE vec_i32 vec_i32_dot_bytes(vec_i32 sum, struct bytes_factor a, struct bytes_factor b)
{
    return vec_i32_dot_u8(sum, a.all, b.all);
}
#else
/* Bytes 0 and 2, and bytes 1 and 3, widened to 16 bits. A product fits into 16 bits; the sum of two
 * needs 32. */
struct bytes_factor {
    vec_i32 even, odd;
};
ALWAYS_INLINE struct bytes_factor unsigned_factor(vec_i32 x)
{
    return (struct bytes_factor){x & 0x00FF00FF, (vec_i32)((vec_u16)x >> 8)};
}
ALWAYS_INLINE struct bytes_factor signed_factor(vec_i32 x)
{
    vec_u16 even = (vec_u16)x << 8;
    return (struct bytes_factor){(vec_i32)((vec_i16)even >> 8), (vec_i32)((vec_i16)x >> 8)};
}
ALWAYS_INLINE vec_i32 vec_i32_dot_bytes(vec_i32 sum, struct bytes_factor a, struct bytes_factor b)
{
    return vec_i32_dot_i16(vec_i32_dot_i16(sum, a.even, b.even), a.odd, b.odd);
}
#endif

/* The same as vec_i32_dot_bytes, for factors that are not widened, if no sum of two neighbouring
 * products exceeds 16 bits. */
#if defined(MM) && VECTOR_LANES <= 8
#define VECTOR_HAS_DOT_PAIRS 1
ALWAYS_INLINE vec_i32 vec_i32_dot_pairs(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    vec_i32 pairs = (vec_i32)MM(maddubs_epi16)((bits)a, (bits)b);
    return vec_i32_dot_i16(sum, pairs, (vec_i32)((vec_i16){0} + 1));
}

/* Load bytes, two for every lane, and widen them to 16 bits. */
ALWAYS_INLINE vec_i32 vec_i16_load_i8(const void *at)
{
    __m128i x = {0};
    memcpy(&x, at, 2 * VECTOR_LANES);
    return (vec_i32)MM(cvtepi8_epi16)(x);
}
ALWAYS_INLINE vec_i32 vec_i16_load_u8(const void *at)
{
    __m128i x = {0};
    memcpy(&x, at, 2 * VECTOR_LANES);
    return (vec_i32)MM(cvtepu8_epi16)(x);
}

/* Stores the lanes of two or four vectors as bytes, each vector at its own address. Values are in
 * 0 ... 255. */
#define VECTOR_HAS_STORE_U8_ROWS
ALWAYS_INLINE void vec_i32_store_u8_rows(void *const at[], const vec_i32 x[], const size_t n)
{
    bits first = MM(packus_epi32)((bits)x[0], (bits)x[1]);
    bits last = n == 2 ? first : MM(packus_epi32)((bits)x[2], (bits)x[3]);
    bits bytes = MM(packus_epi16)(first, last);
#if VECTOR_LANES == 8
    bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#endif
    unsigned char all[4][VECTOR_LANES];
    memcpy(all, &bytes, sizeof all);
    UNROLL
    for (size_t i = 0; i < n; i++)
        memcpy(at[i], all[i], VECTOR_LANES);
}

/* Return the absolute values of signed bytes, and the bytes of x, negated where those of `sign` are
 * negative and 0 where they are 0. */
ALWAYS_INLINE vec_i32 vec_i8_abs(vec_i32 x)
{
    return (vec_i32)MM(abs_epi8)((bits)x);
}
ALWAYS_INLINE vec_i32 vec_i8_with_sign_of(vec_i32 x, vec_i32 sign)
{
    return (vec_i32)MM(sign_epi8)((bits)x, (bits)sign);
}
#else
#define VECTOR_HAS_DOT_PAIRS 0 /* no instruction, or none that saves time */
ALWAYS_INLINE vec_i32 vec_i16_load_i8(const void *at)
{
    int8_t x __attribute__((vector_size(2 * VECTOR_LANES)));
    memcpy(&x, at, sizeof x);
    return (vec_i32) __builtin_convertvector(x, vec_i16);
}
ALWAYS_INLINE vec_i32 vec_i32_dot_pairs(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return vec_i32_dot_bytes(sum, unsigned_factor(a), signed_factor(b));
}
#endif

/* Adds to every lane of sum the products of the unsigned bytes 1 and 3 of a and the two 16-bit
 * integers of b. */
ALWAYS_INLINE vec_i32 vec_i32_dot_odd(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return vec_i32_dot_i16(sum, (vec_i32)((vec_u16)a >> 8), b);
}

/* vec_i32_load_taps loads bytes from LANE_TAPS addresses, so that lane i has byte i of each, as u8
 * or 16 bits. vec_i32_dot_taps adds their products with as many signed numbers of the same size. */
#ifdef VECTOR_HAS_DOT_U8
enum { LANE_TAPS = 4 };
ALWAYS_INLINE vec_i32 vec_i32_load_taps(const uint8_t *const at[LANE_TAPS])
{
    return vec_i32_load_u8_rows(at);
}
ALWAYS_INLINE vec_i32 vec_i32_dot_taps(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return vec_i32_dot_u8(sum, a, b);
}
#else
enum { LANE_TAPS = 2 };
ALWAYS_INLINE vec_i32 vec_i32_load_taps(const uint8_t *const at[LANE_TAPS])
{
    return vec_i32_load_u8(at[0]) | vec_i32_load_u8(at[1]) << 16;
}
ALWAYS_INLINE vec_i32 vec_i32_dot_taps(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return vec_i32_dot_i16(sum, a, b);
}
#endif

#endif
