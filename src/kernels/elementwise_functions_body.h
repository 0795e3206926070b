/* Defines vector_<name> for each vector expression of elementwise.def, for single and for fused
 * operations. At the scalar level, a function marked NEAR uses the scalar expression.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VECTOR_LANES
#error "include kernels/level.h first"
#endif

ALWAYS_INLINE vec vec_clamp(vec x, vec low, vec high)
{
    return vec_select(vec_less(x, low), low, vec_min(high, x));
}

/* Returns (x + 3) / 6, clamped to 0 ... 1. With FMA, multiplies by 1 / 6 and corrects the product
 * by the remainder. This gives the same result as a division for every x + 3, in a third of the
 * time. */
ALWAYS_INLINE vec vec_hsigmoid(vec x)
{
    vec y = vec_clamp(vec_add(x, vec_set1(3.0F)), vec_zero(), vec_set1(6.0F));
#if VECTOR_HAS_FMA
    const vec sixth = vec_set1(1.0F / 6);
    vec quotient = vec_mul(y, sixth);
    return vec_fma(vec_fnma(quotient, vec_set1(6.0F), y), sixth, quotient);
#else
    return vec_div(y, vec_set1(6.0F));
#endif
}

/* p0 and p1 are the parameters, in all lanes. */
#define VECTOR_EXACT(name, expression, vector)                                                     \
    ALWAYS_INLINE vec vector_##name(vec x, vec p0, vec p1)                                         \
    {                                                                                              \
        (void)p0, (void)p1;                                                                        \
        return vector;                                                                             \
    }
#ifdef LEVEL_IS_SCALAR
#include <tgmath.h>
#define T float
#define IF_FLOAT(a, b) a
#define VECTOR_NEAR(name, expression, vector)                                                      \
    __attribute__((noinline)) static vec vector_##name(vec all, vec all_p0, vec all_p1)            \
    {                                                                                              \
        float p0 = all_p0[0], p1 = all_p1[0];                                                      \
        (void)p0, (void)p1;                                                                        \
        for (int lane = 0; lane < VECTOR_LANES; lane++) {                                          \
            float x = all[lane];                                                                   \
            all[lane] = expression;                                                                \
        }                                                                                          \
        return all;                                                                                \
    }
#else
#define VECTOR_NEAR VECTOR_EXACT
#endif
#define UNARY_VECTOR(name, vectors, expression, vector) VECTOR_##vectors(name, expression, vector)
#define BINARY_VECTOR(name, vector)                                                                \
    ALWAYS_INLINE vec vector_##name(vec x, vec y)                                                  \
    {                                                                                              \
        return vector;                                                                             \
    }
#define COMPARISON_VECTOR(name, vector)                                                            \
    ALWAYS_INLINE vec_mask vector_##name(vec x, vec y)                                             \
    {                                                                                              \
        return vector;                                                                             \
    }
#define LOGIC_VECTOR(name, vector)                                                                 \
    ALWAYS_INLINE vec_mask vector_##name(vec_mask x, vec_mask y)                                   \
    {                                                                                              \
        return vector;                                                                             \
    }
#include "kernels/elementwise.def"
