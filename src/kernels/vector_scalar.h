/* The vector functions of the kernels for any CPU, with vector types of the compiler. They are the
 * specification for all levels. exp, tanh and similar functions call libm.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_SCALAR_H
#define IRRUN_KERNELS_VECTOR_SCALAR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/inline.h"

#define VECTOR_LANES 4
#define LEVEL_IS_SCALAR /* only here: exp, tanh and similar functions call libm per lane */
#define VECTOR_REGISTERS 16
#define VECTOR_HAS_FMA 0
typedef float vec __attribute__((vector_size(16)));
typedef int32_t vec_mask __attribute__((vector_size(16)));
typedef uint8_t bits __attribute__((vector_size(16)));

#include "kernels/vector_operators_body.h"

ALWAYS_INLINE vec vec_set1(float x)
{
    return (vec){x, x, x, x};
}
ALWAYS_INLINE vec vec_set1_at(const float *at)
{
    return vec_set1(*at);
}
ALWAYS_INLINE vec vec_abs(vec x)
{
    return (vec)((vec_mask)x & INT32_MAX);
}
ALWAYS_INLINE vec vec_select(vec_mask mask, vec a, vec b)
{
    return (vec)(((vec_mask)a & mask) | ((vec_mask)b & ~mask));
}
/* Return b if either operand is NaN or both are zeros. */
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return vec_select(a < b, a, b);
}
ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return vec_select(a > b, a, b);
}

/* Defines a function that applies an expression of x, the element of a lane, to every lane. */
#define VEC_UNARY(name, expression)                                                                \
    __attribute__((noinline, unused)) static vec vec_##name(vec all)                               \
    {                                                                                              \
        for (int lane = 0; lane < VECTOR_LANES; lane++) {                                          \
            float x = all[lane];                                                                   \
            all[lane] = expression;                                                                \
        }                                                                                          \
        return all;                                                                                \
    }

VEC_UNARY(floor, floorf(x))
VEC_UNARY(ceiling, ceilf(x))
VEC_UNARY(round, nearbyintf(x))
VEC_UNARY(sqrt, sqrtf(x))
VEC_UNARY(tanh, tanhf(x))
VEC_UNARY(exp, expf(x))
VEC_UNARY(exp_nonpositive, expf(x))
VEC_UNARY(log, logf(x))
VEC_UNARY(sigmoid, 1 / (1 + expf(-x)))

ALWAYS_INLINE vec vec_sigmoid_times_tanh(vec x, vec y)
{
    return vec_sigmoid(x) * vec_tanh(y);
}

/* Return elements 0, 2, 4 ... (vec_even) or 1, 3, 5 ... (vec_odd) of a, then those of b. */
ALWAYS_INLINE vec vec_even(vec a, vec b)
{
    return (vec){a[0], a[2], b[0], b[2]};
}
ALWAYS_INLINE vec vec_odd(vec a, vec b)
{
    return (vec){a[1], a[3], b[1], b[3]};
}

/* Transposes: lane i of row j becomes lane j of row i. */
ALWAYS_INLINE void vec_transpose(vec rows[VECTOR_LANES])
{
    float lanes[VECTOR_LANES][VECTOR_LANES], transposed[VECTOR_LANES][VECTOR_LANES];
    memcpy(lanes, rows, sizeof lanes);
    for (int i = 0; i < VECTOR_LANES; i++)
        for (int j = 0; j < VECTOR_LANES; j++)
            transposed[i][j] = lanes[j][i];
    memcpy(rows, transposed, sizeof transposed);
}

/* Interleaves the lanes of a and b: a0, b0, a1, b1 ... */
ALWAYS_INLINE void vec_interleave(vec a, vec b, vec to[2])
{
    to[0] = (vec){a[0], b[0], a[1], b[1]};
    to[1] = (vec){a[2], b[2], a[3], b[3]};
}

/* Stores the sum of the lanes of each of the four vectors. */
ALWAYS_INLINE void vec_store_sums(float to[4], vec a, vec b, vec c, vec d)
{
    const vec all[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        to[i] = (all[i][0] + all[i][1]) + (all[i][2] + all[i][3]);
}

ALWAYS_INLINE vec_mask mask_load_first(const void *at, size_t n)
{
    uint8_t bytes[VECTOR_LANES] = {0};
    memcpy(bytes, at, n);
    return (vec_mask){bytes[0], bytes[1], bytes[2], bytes[3]} != 0;
}
ALWAYS_INLINE void mask_store_first(void *at, vec_mask mask, size_t n)
{
    uint8_t bytes[VECTOR_LANES];
    for (int lane = 0; lane < VECTOR_LANES; lane++)
        bytes[lane] = mask[lane] & 1;
    memcpy(at, bytes, n);
}

/* Each lane of a and b holds two 16-bit integers. Adds both products to the lane of sum. */
ALWAYS_INLINE vec_i32 vec_i32_dot_i16(vec_i32 sum, vec_i32 a, vec_i32 b)
{
    vec_i32 low = ((a << 16) >> 16) * ((b << 16) >> 16);
    return sum + low + (a >> 16) * (b >> 16);
}

/* Load and store one byte per lane. Stored values must be in 0 ... 255. */
ALWAYS_INLINE vec_i32 vec_i32_load_u8(const void *at)
{
    const uint8_t *bytes = at;
    return (vec_i32){bytes[0], bytes[1], bytes[2], bytes[3]};
}
ALWAYS_INLINE void vec_i32_store_u8(void *at, vec_i32 x)
{
    uint8_t bytes[VECTOR_LANES];
    for (int lane = 0; lane < VECTOR_LANES; lane++)
        bytes[lane] = (uint8_t)x[lane];
    memcpy(at, bytes, sizeof bytes);
}

/* Returns, per element of `width` bytes, `then` if its condition (a byte) is not 0, and `other` if
 * it is 0. */
ALWAYS_INLINE bits bits_choose(const unsigned char *condition, bits then, bits other, size_t width)
{
    typedef int16_t lanes_16 __attribute__((vector_size(16)));
    typedef int32_t lanes_32 __attribute__((vector_size(16)));
    typedef int64_t lanes_64 __attribute__((vector_size(16)));
    const unsigned char *c = condition;
    bits is_false;
    if (width == 1)
        is_false = (bits)(bits_load(c) == 0);
    else if (width == 2)
        is_false = (bits)((lanes_16){c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]} == 0);
    else if (width == 4)
        is_false = (bits)((lanes_32){c[0], c[1], c[2], c[3]} == 0);
    else
        is_false = (bits)((lanes_64){c[0], c[1]} == 0);
    return (then & ~is_false) | (other & is_false);
}

#endif
