/* A vector of one lane, in the words that the bodies of the element-wise kernels are written in.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_PLAIN_H
#define IRRUN_KERNELS_VECTOR_PLAIN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VECTOR_LANES 1
typedef float vec;
typedef uint8_t vec_mask;

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE vec vec_zero(void)
{
    return 0;
}

ALWAYS_INLINE vec vec_set1(float x)
{
    return x;
}

ALWAYS_INLINE vec vec_load(const void *at)
{
    float x;
    memcpy(&x, at, sizeof x);
    return x;
}

ALWAYS_INLINE void vec_store(void *at, vec x)
{
    memcpy(at, &x, sizeof x);
}

ALWAYS_INLINE vec vec_load_first(const void *at, size_t n)
{
    (void)n;
    return vec_load(at);
}

ALWAYS_INLINE void vec_store_first(void *at, vec x, size_t n)
{
    (void)n;
    vec_store(at, x);
}

ALWAYS_INLINE vec_mask mask_load(const void *at)
{
    return *(const uint8_t *)at != 0;
}

ALWAYS_INLINE void mask_store(void *at, vec_mask mask)
{
    *(uint8_t *)at = mask;
}

ALWAYS_INLINE vec_mask mask_load_first(const void *at, size_t n)
{
    (void)n;
    return mask_load(at);
}

ALWAYS_INLINE void mask_store_first(void *at, vec_mask mask, size_t n)
{
    (void)n;
    mask_store(at, mask);
}

ALWAYS_INLINE vec_mask mask_set1(uint8_t byte)
{
    return byte != 0;
}

ALWAYS_INLINE vec_mask mask_not(vec_mask a)
{
    return !a;
}

#define VEC_BINARY(name, expression)                                                               \
    ALWAYS_INLINE vec vec_##name(vec a, vec b)                                                     \
    {                                                                                              \
        return expression;                                                                         \
    }
#define VEC_COMPARE(name, operator)                                                                \
    ALWAYS_INLINE vec_mask vec_##name(vec a, vec b)                                                \
    {                                                                                              \
        return a operator b;                                                                       \
    }
#define MASK_BINARY(name, operator)                                                                \
    ALWAYS_INLINE vec_mask mask_##name(vec_mask a, vec_mask b)                                     \
    {                                                                                              \
        return (vec_mask)(a operator b);                                                           \
    }
#define VEC_UNARY(name, expression)                                                                \
    ALWAYS_INLINE vec vec_##name(vec x)                                                            \
    {                                                                                              \
        return expression;                                                                         \
    }

VEC_BINARY(add, a + b)
VEC_BINARY(sub, a - b)
VEC_BINARY(mul, a *b)
VEC_BINARY(div, a / b)
/* If either is NaN, or both are zeros, b. */
VEC_BINARY(min, a < b ? a : b)
VEC_BINARY(max, a > b ? a : b)
VEC_COMPARE(equal, ==)
VEC_COMPARE(not_equal, !=)
VEC_COMPARE(less, <)
VEC_COMPARE(less_equal, <=)
VEC_COMPARE(greater, >)
VEC_COMPARE(greater_equal, >=)
MASK_BINARY(and, &)
MASK_BINARY(or, |)
MASK_BINARY(xor, ^)
VEC_UNARY(abs, fabsf(x))
VEC_UNARY(negative, -x)
VEC_UNARY(floor, floorf(x))
VEC_UNARY(ceiling, ceilf(x))
VEC_UNARY(round, nearbyintf(x))
VEC_UNARY(sqrt, sqrtf(x))
VEC_UNARY(sigmoid, 1 / (1 + expf(-x)))
VEC_UNARY(tanh, tanhf(x))
VEC_UNARY(exp, expf(x))
VEC_UNARY(log, logf(x))
VEC_UNARY(erf, erff(x))
VEC_UNARY(softplus, (x > 0 ? x : 0) + log1pf(expf(-fabsf(x))))
VEC_UNARY(mish, tanhf((x > 0 ? x : 0) + log1pf(expf(-fabsf(x)))) * x)

ALWAYS_INLINE vec vec_select(vec_mask mask, vec a, vec b)
{
    return mask ? a : b;
}

#endif
