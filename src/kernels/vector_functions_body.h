/* exp, log, erf, sigmoid, tanh and activations built from them, for vectors of any length, at the
 * levels with vector instructions. Errors are at most 4 units in the last place or 1e-9; NaN stays
 * NaN.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VECTOR_LANES
#error "include kernels/level.h first"
#endif

/* Returns 2^n for an integer n in -127 ... 127, and 0 for -127. */
ALWAYS_INLINE vec vec_exp2(vec n)
{
    return (vec)((__builtin_convertvector(n, vec_i32) + 127) << 23);
}

#ifndef VECTOR_HAS_SCALE
/* Returns x * 2^n for an integer n in -127 ... 127. */
ALWAYS_INLINE vec vec_scale(vec x, vec n)
{
    return vec_mul(x, vec_exp2(n));
}
#endif

#ifndef VECTOR_HAS_MANTISSA
/* Splits positive finite x into m * 2^exponent, with m in 0.75 ... 1.5. 0x3F400000 has the bits of
 * 0.75. */
ALWAYS_INLINE vec vec_mantissa(vec x, vec *exponent)
{
    vec_mask is_denormal = vec_less(x, vec_set1(0x1p-126F));
    x = vec_select(is_denormal, vec_mul(x, vec_set1(0x1p23F)), x);
    vec_i32 e = (vec_i32)((vec_u32)x - 0x3F400000) >> 23;
    *exponent = vec_sub(__builtin_convertvector(e, vec),
                        vec_select(is_denormal, vec_set1(23.0F), vec_zero()));
    return (vec)((vec_u32)x - ((vec_u32)e << 23));
}
#endif

#define LOG2_E 1.44269504F
/* ln 2 in two parts. LN_2_HIGH has so few bits that its products with small integers are exact. */
#define LN_2_HIGH 0.693359375F
#define LN_2_LOW (-2.12194440e-4F)

/* Splits x into n ln 2 + r; sets n and returns exp(r) - 1 with a relative error of 2.5e-8. The
 * polynomial is the expansion of (exp(r) - 1 - r) / r^2 in Chebyshev polynomials up to degree 4
 * over abs(r) <= ln 2 / 2. */
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

/* Returns exp(-x) for callers that add 1. Clamps x to -89 ... 87; at -89 the result is infinite.
 * Multiplies by 2^(n - 1) and by 2, since 2^128 is not a float. */
ALWAYS_INLINE vec vec_exp_negated(vec x)
{
    vec n, minus = vec_sub(vec_zero(), x);
    minus = vec_min(vec_set1(89.0F), vec_max(vec_set1(-87.0F), minus));
    vec p = vec_expm1_reduced(minus, &n);
    vec power = vec_exp2(vec_sub(n, vec_set1(1.0F)));
    power = vec_fma(power, p, power);
    return vec_add(power, power);
}

ALWAYS_INLINE vec vec_sigmoid(vec x)
{
    return vec_div(vec_set1(1.0F), vec_add(vec_set1(1.0F), vec_exp_negated(x)));
}

/* Returns exp(2 abs(x)) - 1. Clamps 2 abs(x) to 20, where tanh is already 1. */
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

/* Returns sigmoid(x) * tanh(y) with one division. */
ALWAYS_INLINE vec vec_sigmoid_times_tanh(vec x, vec y)
{
    vec e = vec_expm1_of_twice(y);
    vec denominator =
        vec_mul(vec_add(vec_set1(1.0F), vec_exp_negated(x)), vec_add(e, vec_set1(2.0F)));
    return vec_with_sign_of(vec_div(e, denominator), y);
}

/* Returns exp(x). Clamps x to the range outside of which the result is 0 or infinite. Applies 2^n
 * as two powers, since 2^128 is not a float and 2^-149 is not a normal float. */
ALWAYS_INLINE vec vec_exp(vec x)
{
    vec n, clamped = vec_min(vec_set1(89.0F), vec_max(vec_set1(-105.0F), x));
    vec p = vec_expm1_reduced(clamped, &n);
#ifdef VECTOR_HAS_SCALE
    return vec_scale(vec_add(p, vec_set1(1.0F)), n);
#else
    vec n_1 = vec_floor(vec_mul(n, vec_set1(0.5F))), power = vec_exp2(n_1);
    return vec_mul(vec_fma(power, p, power), vec_exp2(vec_sub(n, n_1)));
#endif
}

/* Returns exp(x) for x <= 0. Results below the smallest normal number may become 0. */
ALWAYS_INLINE vec vec_exp_nonpositive(vec x)
{
    vec n, p = vec_expm1_reduced(vec_max(vec_set1(-88.0F), x), &n), power = vec_exp2(n);
    return vec_fma(power, p, power);
}

/* Returns exp(x) - 1 for x <= 0, and -0 for -0. */
ALWAYS_INLINE vec vec_expm1_nonpositive(vec x)
{
    vec n, p = vec_expm1_reduced(vec_max(vec_set1(-80.0F), x), &n), power = vec_exp2(n);
    return vec_with_sign_of(vec_fma(power, p, vec_sub(power, vec_set1(1.0F))), x);
}

/* Returns x < 0 ? alpha * (exp(x) - 1) : x. */
ALWAYS_INLINE vec vec_elu(vec x, vec alpha)
{
    vec negative = vec_mul(alpha, vec_expm1_nonpositive(vec_min(vec_zero(), x)));
    return vec_select(vec_less(x, vec_zero()), negative, x);
}

ALWAYS_INLINE vec vec_selu(vec x, vec alpha, vec lambda)
{
    vec negative = vec_mul(alpha, vec_expm1_nonpositive(vec_min(vec_zero(), x)));
    return vec_mul(vec_select(vec_greater(x, vec_zero()), x, negative), lambda);
}

/* Returns g(z), where 2 atanh(s) = 2 s + s^3 g(s^2): a minimax fit with a relative error of 2e-11
 * up to s = 0.2. */
ALWAYS_INLINE vec vec_atanh_rest(vec z)
{
    vec g = vec_fma(z, vec_set1(0.241034846F), vec_set1(0.285067943F));
    g = vec_fma(z, g, vec_set1(0.400008674F));
    return vec_fma(z, g, vec_set1(0.666666631F));
}

/* As vec_atanh_rest, but with a relative error of 1e-10 up to s = 1/3. */
ALWAYS_INLINE vec vec_atanh_long_rest(vec z)
{
    vec g = vec_fma(z, vec_set1(0.243075865F), vec_set1(0.214260314F));
    g = vec_fma(z, g, vec_set1(0.286170203F));
    g = vec_fma(z, g, vec_set1(0.399988734F));
    return vec_fma(z, g, vec_set1(0.666666757F));
}

/* Returns e ln 2 + log m, where x = m 2^e and log m = 2 atanh((m - 1) / (m + 1)). */
ALWAYS_INLINE vec vec_log(vec x)
{
    vec e, m = vec_mantissa(x, &e), f = vec_sub(m, vec_set1(1.0F));
    vec s = vec_div(f, vec_add(f, vec_set1(2.0F))), z = vec_mul(s, s);
    vec rest = vec_fma(vec_mul(s, z), vec_atanh_rest(z), vec_mul(e, vec_set1(LN_2_LOW)));
    vec y = vec_fma(e, vec_set1(LN_2_HIGH), vec_add(vec_add(s, s), rest));
    y = vec_select(vec_equal(x, vec_zero()), vec_set1(-INFINITY), y);
    y = vec_select(vec_less(x, vec_zero()), vec_set1(NAN), y);
    return vec_select(vec_less(x, vec_set1(INFINITY)), y, x);
}

/* Returns log(1 + exp(x)), computed as max(x, 0) + log(1 + u) with u = exp(-abs(x)), which never
 * overflows and is accurate if u is small. */
ALWAYS_INLINE vec vec_softplus(vec x)
{
    vec u = vec_exp(vec_negative(vec_abs(x)));
    vec s = vec_div(u, vec_add(u, vec_set1(2.0F))), z = vec_mul(s, s);
    vec log1p = vec_fma(vec_mul(s, z), vec_atanh_long_rest(z), vec_add(s, s));
    return vec_add(vec_max(x, vec_zero()), log1p); /* the maximum of NaN and 0 is 0 */
}

/* Returns x * tanh(log(1 + u)) with u = exp(x), where tanh(log(1 + u)) = (u^2 + 2 u) / (u^2 + 2 u +
 * 2). Clamps x at 20, where the quotient is already 1. */
ALWAYS_INLINE vec vec_mish(vec x)
{
    vec u = vec_exp(vec_min(vec_set1(20.0F), x)),
        numerator = vec_mul(u, vec_add(u, vec_set1(2.0F)));
    return vec_mul(x, vec_div(numerator, vec_add(numerator, vec_set1(2.0F))));
}

/* Returns 2^q for q in -127 ... 0: a minimax fit with a relative error of 9e-8, exact at
 * integers. */
ALWAYS_INLINE vec vec_exp2_nonpositive(vec q)
{
    vec n = vec_round(q), r = vec_sub(q, n);
    vec power = vec_fma(r, vec_set1(0.00132647273F), vec_set1(0.00967151299F));
    power = vec_fma(r, power, vec_set1(0.0555073358F));
    power = vec_fma(r, power, vec_set1(0.240222424F));
    power = vec_fma(r, power, vec_set1(0.693147004F));
    power = vec_fma(r, power, vec_set1(1.0F));
    return vec_scale(power, n);
}

/* Returns erf(x). Up to abs(x) = 1, uses an odd polynomial with a relative error of 1.2e-9. Above,
 * uses 1 - 2^q(x), where q approximates log2(1 - erf(x)). The error of q changes erf by at most
 * 1e-9, the error of the power by at most 1.5e-8. All polynomials are minimax fits. From 3.95 on,
 * erf is 1. */
ALWAYS_INLINE vec vec_erf(vec x)
{
    vec a = vec_min(vec_set1(3.95F), vec_abs(x)), z = vec_mul(a, a);
    vec low = vec_fma(z, vec_set1(7.85385769e-05F), vec_set1(-0.000801019251F));
    low = vec_fma(z, low, vec_set1(0.00518832756F));
    low = vec_fma(z, low, vec_set1(-0.0268538119F));
    low = vec_fma(z, low, vec_set1(0.112835851F));
    low = vec_fma(z, low, vec_set1(-0.376126258F));
    low = vec_mul(a, vec_fma(z, low, vec_set1(1.12837917F)));
    vec q = vec_fma(a, vec_set1(0.000267726835F), vec_set1(-0.00424095849F));
    q = vec_fma(a, q, vec_set1(0.03145843F));
    q = vec_fma(a, q, vec_set1(-0.14865151F));
    q = vec_fma(a, q, vec_set1(-0.920764983F));
    q = vec_fma(a, q, vec_set1(-1.62597513F));
    q = vec_fma(a, q, vec_set1(-0.000510306796F));
    vec high = vec_sub(vec_set1(1.0F), vec_exp2_nonpositive(q));
    return vec_with_sign_of(vec_select(vec_less(a, vec_set1(1.0F)), low, high), x);
}

/* Returns x * Phi(x), where Phi is the distribution function of the normal distribution. Uses
 * Phi(-a) = 2^q(a) with a = abs(x). q is a minimax fit: the error of the power is at most 1.5e-8,
 * and less in the tail. From 10.2 on, the power is 0. */
ALWAYS_INLINE vec vec_gelu_erf(vec x)
{
    vec a = vec_abs(x), q = vec_fma(a, vec_set1(-2.27586844e-06F), vec_set1(3.29679745e-05F));
    q = vec_fma(a, q, vec_set1(-0.000157278579F));
    q = vec_fma(a, q, vec_set1(-0.000202479444F));
    q = vec_fma(a, q, vec_set1(0.00714278251F));
    q = vec_fma(a, q, vec_set1(-0.0525464366F));
    q = vec_fma(a, q, vec_set1(-0.459193057F));
    q = vec_fma(a, q, vec_set1(-1.15110694F));
    /* If x is NaN, q becomes -126, so that only one operand of the product is NaN. The product of
     * two NaNs may be either NaN, and their signs may differ. */
    q = vec_max(vec_fma(a, q, vec_set1(-0.999999959F)), vec_set1(-126.0F));
    vec tail = vec_sub(vec_exp2_nonpositive(q), vec_set1(0x1p-126F));
    vec rest = vec_sub(vec_set1(1.0F), tail);
    return vec_mul(x, vec_select(vec_less(x, vec_zero()), tail, rest));
}

ALWAYS_INLINE vec vec_gelu_tanh(vec x)
{
    vec cube = vec_mul(vec_mul(vec_mul(vec_set1(0.044715F), x), x), x);
    vec t = vec_tanh(vec_mul(vec_set1((float)(M_SQRT1_2 * M_2_SQRTPI)), vec_add(x, cube)));
    return vec_mul(vec_mul(vec_add(vec_set1(1.0F), t), vec_set1(0.5F)), x);
}
