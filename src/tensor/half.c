/* Converts between f32 and the types f16 and bf16, without branches, so that compilers vectorize
 * the loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/half.h"

#include <math.h>
#include <string.h>

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 127 - 15: the difference of the exponent biases of f32 and f16. */
#define F16_REBIAS (UINT32_C(112) << 23)

/* Returns is_first ? a : b, written so that compilers do not generate a branch. */
static inline uint32_t choose(int is_first, uint32_t a, uint32_t b)
{
    uint32_t mask = 0 - (uint32_t)is_first;
    return (a & mask) | (b & ~mask);
}

static inline float widen_f16(uint16_t bits)
{
    /* Exponent and mantissa, aligned as in f32. */
    uint32_t magnitude = (uint32_t)(bits & 0x7FFF) << 13;
    uint32_t normal = magnitude + F16_REBIAS;
    uint32_t quiet = choose(magnitude > 0x0F800000, 0x00400000, 0);
    uint32_t special = 0x7F800000 | magnitude | quiet;
    /* 2^-14 * (1 + m) - 2^-14 = 2^-14 * m: subnormals become normal in f32. */
    uint32_t smallest = UINT32_C(113) << 23;
    uint32_t subnormal = bits_of(float_of(smallest + magnitude) - float_of(smallest));
    uint32_t wide = choose(magnitude >= 0x0F800000, special, normal);
    wide = choose(magnitude < 0x00800000, subnormal, wide);
    return float_of(wide | (uint32_t)(bits & 0x8000) << 16);
}

static inline uint16_t narrow_f16(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t magnitude = bits & 0x7FFFFFFF;
    /* Rounds to nearest, ties to even: adds half an ulp, less 1 if the last bit kept is 0. */
    uint32_t normal = (magnitude - F16_REBIAS + 0xFFF + (magnitude >> 13 & 1)) >> 13;
    /* The last bit of 0.5f is 2^-24, the unit of f16 subnormals, so adding 0.5f rounds to it. */
    int is_small = magnitude < 0x38800000; /* 2^-14 */
    uint32_t subnormal = bits_of(float_of(choose(is_small, magnitude, 0)) + 0.5f) - bits_of(0.5f);
    uint32_t nan = 0x7E00 | (magnitude >> 13 & 0x3FF);
    uint32_t narrow = choose(is_small, subnormal, normal);
    narrow = choose(magnitude >= 0x477FF000, 0x7C00, narrow); /* 65520, half way to 65536 */
    narrow = choose(magnitude > 0x7F800000, nan, narrow);
    return (uint16_t)(narrow | (bits >> 16 & 0x8000));
}

static inline float widen_bf16(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

static inline uint16_t narrow_bf16(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    uint32_t nan = bits >> 16 | 0x40;
    return (uint16_t)choose((bits & 0x7FFFFFFF) > 0x7F800000, nan, rounded);
}

float f16_to_f32(uint16_t bits)
{
    return widen_f16(bits);
}

uint16_t f16_from_f32(float value)
{
    return narrow_f16(value);
}

float bf16_to_f32(uint16_t bits)
{
    return widen_bf16(bits);
}

uint16_t bf16_from_f32(float value)
{
    return narrow_bf16(value);
}

/* Groups of 16 elements have their own loop, because compilers vectorize a loop of constant length
 * even at -O2. */
#define GROUP 16
#define CONVERT_N(name, from_type, to_type, convert)                                               \
    static inline void name##_run(const unsigned char *restrict from, unsigned char *restrict to,  \
                                  size_t n)                                                        \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            from_type value;                                                                       \
            memcpy(&value, from + i * sizeof value, sizeof value);                                 \
            to_type converted = convert(value);                                                    \
            memcpy(to + i * sizeof converted, &converted, sizeof converted);                       \
        }                                                                                          \
    }                                                                                              \
    void name(const void *source, void *target, size_t n)                                          \
    {                                                                                              \
        const unsigned char *from = source;                                                        \
        unsigned char *to = target;                                                                \
        for (; n >= GROUP; n -= GROUP) {                                                           \
            name##_run(from, to, GROUP);                                                           \
            from += GROUP * sizeof(from_type);                                                     \
            to += GROUP * sizeof(to_type);                                                         \
        }                                                                                          \
        name##_run(from, to, n);                                                                   \
    }

CONVERT_N(f16_to_f32_n, uint16_t, float, widen_f16)
CONVERT_N(f16_from_f32_n, float, uint16_t, narrow_f16)
CONVERT_N(bf16_to_f32_n, uint16_t, float, widen_bf16)
CONVERT_N(bf16_from_f32_n, float, uint16_t, narrow_bf16)

static inline float round_bf16(float value)
{
    return widen_bf16(narrow_bf16(value));
}

CONVERT_N(bf16_round_n, float, float, round_bf16)

float f32_for_narrowing(double value)
{
    float nearest = (float)value;
    if (isnan(value) || (double)nearest == value)
        return nearest;
    /* Rounds to odd: toward zero, then sets the last bit. Rounding again then gives the same
     * result as rounding `value` once. */
    uint32_t bits = bits_of(nearest);
    if (fabs((double)nearest) > fabs(value))
        bits--;
    return float_of(bits | 1);
}
