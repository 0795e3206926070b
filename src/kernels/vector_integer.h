/* Functions for vectors of 32-bit integers, with the same results at every level: dot products of
 * bytes, and conversions between bytes, sums and f32. Sums wrap, so they are exact modulo 2^32.
 * Include after level.h.
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
/* Loads four bytes and broadcasts them to all lanes. */
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
/* Stores the first n lanes as bytes. Values must be in 0 ... 255. */
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

/* An operand of vec_i32_dot_bytes: four bytes per lane, unsigned in a, signed in b. */
#ifdef VECTOR_HAS_DOT_U8
struct bytes_operand {
    vec_i32 all;
};
ALWAYS_INLINE struct bytes_operand unsigned_operand(vec_i32 x)
{
    return (struct bytes_operand){x};
}
ALWAYS_INLINE struct bytes_operand signed_operand(vec_i32 x)
{
    return (struct bytes_operand){x};
}
ALWAYS_INLINE vec_i32 vec_i32_dot_bytes(vec_i32 sum, struct bytes_operand a, struct bytes_operand b)
{
    return vec_i32_dot_u8(sum, a.all, b.all);
}
#else
/* Bytes 0 and 2 (`even`) and bytes 1 and 3 (`odd`) of each lane, widened to 16 bits. A product fits
 * into 16 bits; the sum of two products needs 32. */
struct bytes_operand {
    vec_i32 even, odd;
};
ALWAYS_INLINE struct bytes_operand unsigned_operand(vec_i32 x)
{
    return (struct bytes_operand){x & 0x00FF00FF, (vec_i32)((vec_u16)x >> 8)};
}
ALWAYS_INLINE struct bytes_operand signed_operand(vec_i32 x)
{
    vec_u16 even = (vec_u16)x << 8;
    return (struct bytes_operand){(vec_i32)((vec_i16)even >> 8), (vec_i32)((vec_i16)x >> 8)};
}
ALWAYS_INLINE vec_i32 vec_i32_dot_bytes(vec_i32 sum, struct bytes_operand a, struct bytes_operand b)
{
    return vec_i32_dot_i16(vec_i32_dot_i16(sum, a.even, b.even), a.odd, b.odd);
}
#endif

/* As vec_i32_dot_bytes, but for operands that are not widened. No sum of two neighbouring products
 * may exceed 16 bits. */
#if defined(MM) && VECTOR_LANES <= 8
#define VECTOR_HAS_DOT_PAIRS 1
ALWAYS_INLINE vec_i32 vec_i32_dot_pairs(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    vec_i32 pairs = (vec_i32)MM(maddubs_epi16)((bits)a, (bits)b);
    return vec_i32_dot_i16(sum, pairs, (vec_i32)((vec_i16){0} + 1));
}

/* Load bytes, two per lane, and widen them to 16 bits. */
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

/* Stores the lanes of n (2 or 4) vectors as bytes, vector i at at[i]. Values must be in 0 ...
 * 255. */
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

/* vec_i8_abs returns the absolute values of signed bytes. vec_i8_with_sign_of returns the bytes of
 * x, negated if the byte of `sign` is negative, and 0 if it is 0. */
ALWAYS_INLINE vec_i32 vec_i8_abs(vec_i32 x)
{
    return (vec_i32)MM(abs_epi8)((bits)x);
}
ALWAYS_INLINE vec_i32 vec_i8_with_sign_of(vec_i32 x, vec_i32 sign)
{
    return (vec_i32)MM(sign_epi8)((bits)x, (bits)sign);
}
#else
#define VECTOR_HAS_DOT_PAIRS 0 /* no such instruction, or it saves no time */
ALWAYS_INLINE vec_i32 vec_i16_load_i8(const void *at)
{
    int8_t x __attribute__((vector_size(2 * VECTOR_LANES)));
    memcpy(&x, at, sizeof x);
    return (vec_i32) __builtin_convertvector(x, vec_i16);
}
ALWAYS_INLINE vec_i32 vec_i32_dot_pairs(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return vec_i32_dot_bytes(sum, unsigned_operand(a), signed_operand(b));
}
#endif

/* Multiplies the unsigned bytes 1 and 3 of each lane of a by the two 16-bit integers of b, and adds
 * both products to the lane of sum. */
ALWAYS_INLINE vec_i32 vec_i32_dot_odd(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    return vec_i32_dot_i16(sum, (vec_i32)((vec_u16)a >> 8), b);
}

/* vec_i32_load_taps loads bytes from LANE_TAPS addresses; lane i gets byte i from each address, as
 * u8 if LANE_TAPS is 4, or as 16 bits if it is 2. vec_i32_dot_taps multiplies them by the signed
 * numbers of the same size in b, and adds the products to sum. */
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
