/* Plain loops of the element-wise functions of one operand: the specification of every other
 * variant.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/unary.h"

/* x is the element; p0 and p1 are in its type. */
#define LOOP(name, T, expression)                                                                  \
    static void name(const void *in, void *out, size_t n, const double p[UNARY_N_PARAMETERS])      \
    {                                                                                              \
        T p0 = (T)p[0], p1 = (T)p[1];                                                              \
        (void)p0, (void)p1;                                                                        \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x = ((const T *)in)[i];                                                              \
            ((T *)out)[i] = (T)(expression);                                                       \
        }                                                                                          \
    }

/* ---- f32 and f64 ----------------------------------------------------------------------------- */

/* log(1 + exp(x)) without overflow, and exact where exp(x) is small. */
#define SOFTPLUS(f, x) ((x > 0 ? x : 0) + log1p##f(exp##f(-fabs##f(x))))
#define SIGMOID(f, x) (1 / (1 + exp##f(-(x))))
#define GELU_SLOPE(S, x) (S(M_SQRT1_2 * M_2_SQRTPI) * (x + (S(0.044715) * x * x * x)))
#define HELD(y) ((y) < 0 ? 0 : (y) > 1 ? 1 : (y)) /* in 0 ... 1 */

/* f is the ending of the names in libm; S casts a constant to T. */
#define FLOAT_LOOPS(T, suffix, f, S)                                                               \
    LOOP(abs_##suffix, T, fabs##f(x))                                                              \
    LOOP(negative_##suffix, T, -x)                                                                 \
    LOOP(sign_##suffix, T, (x > 0) ? 1 : (x < 0) ? -1 : x)                                         \
    LOOP(relu_##suffix, T, (x < 0) ? 0 : x)                                                        \
    LOOP(clamp_##suffix, T, (x < p0) ? p0 : (x > p1) ? p1 : x)                                     \
    LOOP(floor_##suffix, T, floor##f(x))                                                           \
    LOOP(ceiling_##suffix, T, ceil##f(x))                                                          \
    LOOP(round_even_##suffix, T, nearbyint##f(x))                                                  \
    LOOP(round_away_##suffix, T, round##f(x))                                                      \
    LOOP(acos_##suffix, T, acos##f(x))                                                             \
    LOOP(acosh_##suffix, T, acosh##f(x))                                                           \
    LOOP(asin_##suffix, T, asin##f(x))                                                             \
    LOOP(asinh_##suffix, T, asinh##f(x))                                                           \
    LOOP(atan_##suffix, T, atan##f(x))                                                             \
    LOOP(atanh_##suffix, T, atanh##f(x))                                                           \
    LOOP(cos_##suffix, T, cos##f(x))                                                               \
    LOOP(cosh_##suffix, T, cosh##f(x))                                                             \
    LOOP(elu_##suffix, T, (x < 0) ? p0 *expm1##f(x) : x)                                           \
    LOOP(erf_##suffix, T, erf##f(x))                                                               \
    LOOP(exp_##suffix, T, exp##f(x))                                                               \
    LOOP(gelu_erf_##suffix, T, (1 + erf##f(x * S(M_SQRT1_2))) * S(0.5) * x)                        \
    LOOP(gelu_tanh_##suffix, T, (1 + tanh##f(GELU_SLOPE(S, x))) * S(0.5) * x)                      \
    LOOP(hard_sigmoid_##suffix, T, HELD((p0 * x) + p1))                                            \
    LOOP(hsigmoid_##suffix, T, HELD((x + 3) / 6))                                                  \
    LOOP(hswish_##suffix, T, HELD((x + 3) / 6) * x)                                                \
    LOOP(log_##suffix, T, log##f(x))                                                               \
    LOOP(mish_##suffix, T, tanh##f(SOFTPLUS(f, x)) * x)                                            \
    LOOP(selu_##suffix, T, (x > 0 ? x : p0 * expm1##f(x)) * p1)                                    \
    LOOP(sigmoid_##suffix, T, SIGMOID(f, x))                                                       \
    LOOP(sin_##suffix, T, sin##f(x))                                                               \
    LOOP(sinh_##suffix, T, sinh##f(x))                                                             \
    LOOP(softplus_##suffix, T, SOFTPLUS(f, x))                                                     \
    LOOP(softsign_##suffix, T, x / (1 + fabs##f(x)))                                               \
    LOOP(sqrt_##suffix, T, sqrt##f(x))                                                             \
    LOOP(swish_##suffix, T, SIGMOID(f, p0 *x) * x)                                                 \
    LOOP(tan_##suffix, T, tan##f(x))                                                               \
    LOOP(tanh_##suffix, T, tanh##f(x))

FLOAT_LOOPS(float, f32, f, (float))
FLOAT_LOOPS(double, f64, , (double))

/* ---- integers and booleans ------------------------------------------------------------------- */

#define CLAMP_LOOP(T, suffix, lowest, highest)                                                     \
    static T bound_##suffix(double limit)                                                          \
    {                                                                                              \
        return limit <= (double)lowest ? lowest : limit >= (double)highest ? highest : (T)limit;   \
    }                                                                                              \
    static void clamp_##suffix(const void *in, void *out, size_t n, const double *p)               \
    {                                                                                              \
        T low = bound_##suffix(ceil(p[0])), high = bound_##suffix(floor(p[1]));                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x = ((const T *)in)[i];                                                              \
            ((T *)out)[i] = x < low ? low : x > high ? high : x;                                   \
        }                                                                                          \
    }

/* Negation of the bits as an unsigned number wraps. */
#define SIGNED_LOOPS(T, U, suffix, lowest, highest)                                                \
    LOOP(negative_##suffix, T, (U)(0 - (U)x))                                                      \
    LOOP(abs_##suffix, T, (x < 0) ? (T)(U)(0 - (U)x) : x)                                          \
    LOOP(sign_##suffix, T, (x > 0) - (x < 0))                                                      \
    LOOP(relu_##suffix, T, (x < 0) ? 0 : x)                                                        \
    CLAMP_LOOP(T, suffix, lowest, highest)

#define UNSIGNED_LOOPS(T, suffix, highest)                                                         \
    LOOP(same_##suffix, T, x)                                                                      \
    LOOP(negative_##suffix, T, 0 - x)                                                              \
    LOOP(sign_##suffix, T, x != 0)                                                                 \
    CLAMP_LOOP(T, suffix, 0, highest)

SIGNED_LOOPS(int8_t, uint8_t, i8, INT8_MIN, INT8_MAX)
SIGNED_LOOPS(int16_t, uint16_t, i16, INT16_MIN, INT16_MAX)
SIGNED_LOOPS(int32_t, uint32_t, i32, INT32_MIN, INT32_MAX)
SIGNED_LOOPS(int64_t, uint64_t, i64, INT64_MIN, INT64_MAX)
UNSIGNED_LOOPS(uint8_t, u8, UINT8_MAX)
UNSIGNED_LOOPS(uint16_t, u16, UINT16_MAX)
UNSIGNED_LOOPS(uint32_t, u32, UINT32_MAX)
UNSIGNED_LOOPS(uint64_t, u64, UINT64_MAX)
LOOP(not_boolean, uint8_t, !x)
LOOP(not_u8, uint8_t, ~x)
LOOP(not_u16, uint16_t, ~x)
LOOP(not_u32, uint32_t, ~x)
LOOP(not_u64, uint64_t, ~x)

/* ---- the table ------------------------------------------------------------------------------- */

#define FLOATS(name) [IRRUN_F32] = name##_f32, [IRRUN_F64] = name##_f64
#define ROW(floating, signed_, unsigned_)                                                          \
    {                                                                                              \
        FLOATS(floating), [IRRUN_I8] = signed_##8, [IRRUN_I16] = signed_##16,                      \
                          [IRRUN_I32] = signed_##32, [IRRUN_I64] = signed_##64,                    \
                          [IRRUN_U8] = unsigned_##_u8, [IRRUN_U16] = unsigned_##_u16,              \
                          [IRRUN_U32] = unsigned_##_u32, [IRRUN_U64] = unsigned_##_u64             \
    }

static unary_fn *const loops[UNARY_N_OPERATIONS][IRRUN_N_DTYPES] = {
    [UNARY_ABS] = ROW(abs, abs_i, same),
    [UNARY_NEGATIVE] = ROW(negative, negative_i, negative),
    [UNARY_SIGN] = ROW(sign, sign_i, sign),
    [UNARY_RELU] = ROW(relu, relu_i, same),
    [UNARY_CLAMP] = ROW(clamp, clamp_i, clamp),
    [UNARY_FLOOR] = ROW(floor, same_u, same),
    [UNARY_CEILING] = ROW(ceiling, same_u, same),
    [UNARY_ROUND_HALF_TO_EVEN] = ROW(round_even, same_u, same),
    [UNARY_ROUND_HALF_AWAY_FROM_ZERO] = ROW(round_away, same_u, same),
    [UNARY_NOT] = {[IRRUN_BOOLEAN] = not_boolean,
                   [IRRUN_I8] = not_u8,
                   [IRRUN_I16] = not_u16,
                   [IRRUN_I32] = not_u32,
                   [IRRUN_I64] = not_u64,
                   [IRRUN_U8] = not_u8,
                   [IRRUN_U16] = not_u16,
                   [IRRUN_U32] = not_u32,
                   [IRRUN_U64] = not_u64},
    [UNARY_ACOS] = {FLOATS(acos)},
    [UNARY_ACOSH] = {FLOATS(acosh)},
    [UNARY_ASIN] = {FLOATS(asin)},
    [UNARY_ASINH] = {FLOATS(asinh)},
    [UNARY_ATAN] = {FLOATS(atan)},
    [UNARY_ATANH] = {FLOATS(atanh)},
    [UNARY_COS] = {FLOATS(cos)},
    [UNARY_COSH] = {FLOATS(cosh)},
    [UNARY_ELU] = {FLOATS(elu)},
    [UNARY_ERF] = {FLOATS(erf)},
    [UNARY_EXP] = {FLOATS(exp)},
    [UNARY_GELU_ERF] = {FLOATS(gelu_erf)},
    [UNARY_GELU_TANH] = {FLOATS(gelu_tanh)},
    [UNARY_HARD_SIGMOID] = {FLOATS(hard_sigmoid)},
    [UNARY_HSIGMOID] = {FLOATS(hsigmoid)},
    [UNARY_HSWISH] = {FLOATS(hswish)},
    [UNARY_LOG] = {FLOATS(log)},
    [UNARY_MISH] = {FLOATS(mish)},
    [UNARY_SELU] = {FLOATS(selu)},
    [UNARY_SIGMOID] = {FLOATS(sigmoid)},
    [UNARY_SIN] = {FLOATS(sin)},
    [UNARY_SINH] = {FLOATS(sinh)},
    [UNARY_SOFTPLUS] = {FLOATS(softplus)},
    [UNARY_SOFTSIGN] = {FLOATS(softsign)},
    [UNARY_SQRT] = {FLOATS(sqrt)},
    [UNARY_SWISH] = {FLOATS(swish)},
    [UNARY_TAN] = {FLOATS(tan)},
    [UNARY_TANH] = {FLOATS(tanh)},
};

unary_fn *unary_scalar(enum unary_operation operation, enum irrun_dtype dtype)
{
    return loops[operation][dtype];
}
