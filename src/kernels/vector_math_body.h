/* exp, sigmoid and tanh of vectors of any length: see vector_<isa>.h for what comes before. Results
 * are within 3 units of the last place or 1e-9; NaN stays NaN.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#ifndef VECTOR_LANES
#error "include the words of a level before: kernels/vector_<level>.h"
#endif

#define LOG2_E 1.44269504F
/* ln 2 in two parts: the first has few enough bits that its products with small integers are
 * exact. */
#define LN_2_HIGH 0.693359375F
#define LN_2_LOW (-2.12194440e-4F)

/* x = n ln 2 + r: gives exp(r) - 1, relative error 2.5e-8, and n. From the expansion of
 * (exp(r) - 1 - r) / r^2 in Chebyshev polynomials up to degree 4 over abs(r) <= ln 2 / 2. */
ALWAYS_INLINE vec vec_expm1_reduced(vec x, vec *n)
{
    *n = vec_round(vec_mul(x, vec_set1(LOG2_E)));
    vec r = vec_fnma(*n, vec_set1(LN_2_HIGH), x);
    r = vec_fnma(*n, vec_set1(LN_2_LOW), r);
    vec r2 = vec_mul(r, r);
    vec low = vec_fma(r, vec_set1(0.166665763F), vec_set1(0.5F));
    vec high = vec_fma(r, vec_set1(0.00836323574F), vec_set1(0.041666463F));
    high = vec_fma(r2, vec_set1(0.00139337336F), high);
    return vec_fma(r2, vec_fma(r2, high, low), r);
}

/* exp(-x) for whoever adds 1: x is held below 87, and above -89, where the result is infinite. The
 * power of two is applied in halves, since 2^128 is no float. */
ALWAYS_INLINE vec vec_exp_of_minus(vec x)
{
    vec n, minus = vec_sub(vec_zero(), x);
    minus = vec_min(vec_set1(89.0F), vec_max(vec_set1(-87.0F), minus));
    vec p = vec_expm1_reduced(minus, &n);
    vec half = vec_exp2(vec_sub(n, vec_set1(1.0F)));
    half = vec_fma(half, p, half);
    return vec_add(half, half);
}

ALWAYS_INLINE vec vec_sigmoid(vec x)
{
    return vec_div(vec_set1(1.0F), vec_add(vec_set1(1.0F), vec_exp_of_minus(x)));
}

/* exp(2 abs(x)) - 1; 2x held at 20, where tanh has long been 1. */
ALWAYS_INLINE vec vec_expm1_of_twice(vec x)
{
    vec n, magnitude = vec_abs(x);
    vec p = vec_expm1_reduced(vec_min(vec_set1(20.0F), vec_add(magnitude, magnitude)), &n);
    vec power = vec_exp2(n);
    return vec_fma(power, p, vec_sub(power, vec_set1(1.0F)));
}

ALWAYS_INLINE vec vec_tanh(vec x)
{
    vec e = vec_expm1_of_twice(x);
    return vec_with_sign_of(vec_div(e, vec_add(e, vec_set1(2.0F))), x);
}

/* sigmoid(x) * tanh(y) with one division. */
ALWAYS_INLINE vec vec_sigmoid_times_tanh(vec x, vec y)
{
    vec e = vec_expm1_of_twice(y);
    vec below = vec_mul(vec_add(vec_set1(1.0F), vec_exp_of_minus(x)), vec_add(e, vec_set1(2.0F)));
    return vec_with_sign_of(vec_div(e, below), y);
}
