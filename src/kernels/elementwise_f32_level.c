/* The loops of elementwise_f32.h for every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#include "kernels/elementwise_functions_body.h"

typedef vec vec_binary_fn(vec x, vec y);
typedef vec_mask vec_compare_fn(vec x, vec y);

/* ---- operands: they move, or are one element, already in all lanes ---- */

struct operand {
    const char *at;
    vec still;
    bool moves;
};

ALWAYS_INLINE struct operand operand_of(const void *at, bool moves, size_t n)
{
    struct operand operand = {.at = at, .moves = moves, .still = vec_zero()};
    if (!moves && n > 0) {
        float element;
        memcpy(&element, at, sizeof element);
        operand.still = vec_set1(element);
    }
    return operand;
}

ALWAYS_INLINE vec operand_at(const struct operand *operand, size_t i)
{
    return operand->moves ? vec_load(operand->at + i * sizeof(float)) : operand->still;
}

ALWAYS_INLINE vec operand_last(const struct operand *operand, size_t i, size_t n)
{
    return operand->moves ? vec_load_first(operand->at + i * sizeof(float), n) : operand->still;
}

/* ---- two operands ---- */

ALWAYS_INLINE bool run_binary(const void *a, const void *b, float *out, size_t n,
                              enum operand_form form, vec_binary_fn *f)
{
    struct operand x = operand_of(a, form != FORM_RIGHT_MOVES, n);
    struct operand y = operand_of(b, form != FORM_LEFT_MOVES, n);
    size_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        vec first = f(operand_at(&x, i), operand_at(&y, i));
        vec second = f(operand_at(&x, i + VECTOR_LANES), operand_at(&y, i + VECTOR_LANES));
        vec_store(out + i, first);
        vec_store(out + i + VECTOR_LANES, second);
    }
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vec_store(out + i, f(operand_at(&x, i), operand_at(&y, i)));
    if (i < n)
        vec_store_first(out + i, f(operand_last(&x, i, n - i), operand_last(&y, i, n - i)), n - i);
    return true;
}

ALWAYS_INLINE bool run_compare(const void *a, const void *b, unsigned char *out, size_t n,
                               enum operand_form form, vec_compare_fn *f)
{
    struct operand x = operand_of(a, form != FORM_RIGHT_MOVES, n);
    struct operand y = operand_of(b, form != FORM_LEFT_MOVES, n);
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        mask_store(out + i, f(operand_at(&x, i), operand_at(&y, i)));
    if (i < n)
        mask_store_first(out + i, f(operand_last(&x, i, n - i), operand_last(&y, i, n - i)), n - i);
    return true;
}

#define BINARY_LOOP(run, name, form)                                                               \
    static bool name##_##form(const void *a, const void *b, void *out, size_t n)                   \
    {                                                                                              \
        return run(a, b, out, n, form, vec_##name);                                                \
    }
#define BINARY_LOOPS(run, name)                                                                    \
    BINARY_LOOP(run, name, FORM_BOTH_MOVE)                                                         \
    BINARY_LOOP(run, name, FORM_LEFT_MOVES)                                                        \
    BINARY_LOOP(run, name, FORM_RIGHT_MOVES)
#define BINARY_ROW(name)                                                                           \
    {                                                                                              \
        name##_FORM_BOTH_MOVE, name##_FORM_LEFT_MOVES, name##_FORM_RIGHT_MOVES                     \
    }

BINARY_LOOPS(run_binary, add)
BINARY_LOOPS(run_binary, sub)
BINARY_LOOPS(run_binary, mul)
BINARY_LOOPS(run_binary, div)
BINARY_LOOPS(run_binary, maximum)
BINARY_LOOPS(run_binary, minimum)
BINARY_LOOPS(run_binary, squared_difference)
BINARY_LOOPS(run_binary, prelu)
BINARY_LOOPS(run_compare, equal)
BINARY_LOOPS(run_compare, not_equal)
BINARY_LOOPS(run_compare, less)
BINARY_LOOPS(run_compare, less_equal)
BINARY_LOOPS(run_compare, greater)
BINARY_LOOPS(run_compare, greater_equal)

/* ---- one operand ---- */

#define UNARY_LOOP(name)                                                                           \
    static void unary_##name(const void *in, void *out, size_t n,                                  \
                             const double p[UNARY_N_PARAMETERS])                                   \
    {                                                                                              \
        const char *from = in;                                                                     \
        float *to = out;                                                                           \
        size_t i = 0;                                                                              \
        (void)p;                                                                                   \
        for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)                                           \
            vec_store(to + i, vec_##name(vec_load(from + i * sizeof(float))));                     \
        if (i < n)                                                                                 \
            vec_store_first(to + i, vec_##name(vec_load_first(from + i * sizeof(float), n - i)),   \
                            n - i);                                                                \
    }

UNARY_LOOP(abs)
UNARY_LOOP(negative)
UNARY_LOOP(relu)
UNARY_LOOP(floor)
UNARY_LOOP(ceiling)
UNARY_LOOP(round)
UNARY_LOOP(sqrt)
UNARY_LOOP(sigmoid)
UNARY_LOOP(tanh)
UNARY_LOOP(exp)
UNARY_LOOP(log)
UNARY_LOOP(erf)
UNARY_LOOP(softplus)
UNARY_LOOP(mish)
UNARY_LOOP(hsigmoid)
UNARY_LOOP(hswish)
UNARY_LOOP(softsign)
UNARY_LOOP(gelu_erf)
UNARY_LOOP(gelu_tanh)

/* Functions with parameters. */
#define PARAMETER_LOOP(name, expression)                                                           \
    ALWAYS_INLINE vec name##_of(vec x, vec p0, vec p1)                                             \
    {                                                                                              \
        (void)p1;                                                                                  \
        return expression;                                                                         \
    }                                                                                              \
                                                                                                   \
    static void unary_##name(const void *in, void *out, size_t n,                                  \
                             const double p[UNARY_N_PARAMETERS])                                   \
    {                                                                                              \
        vec p0 = vec_set1((float)p[0]), p1 = vec_set1((float)p[1]);                                \
        const char *from = in;                                                                     \
        float *to = out;                                                                           \
        size_t i = 0;                                                                              \
        for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)                                           \
            vec_store(to + i, name##_of(vec_load(from + i * sizeof(float)), p0, p1));              \
        if (i < n) {                                                                               \
            vec x = vec_load_first(from + i * sizeof(float), n - i);                               \
            vec_store_first(to + i, name##_of(x, p0, p1), n - i);                                  \
        }                                                                                          \
    }

#define EXPM1(x) vec_expm1_of_negative(vec_min(vec_zero(), x))

PARAMETER_LOOP(clamp, vec_clamp(x, p0, p1))
PARAMETER_LOOP(elu, vec_select(vec_less(x, vec_zero()), vec_mul(p0, EXPM1(x)), x))
PARAMETER_LOOP(selu, vec_mul(vec_select(vec_greater(x, vec_zero()), x, vec_mul(p0, EXPM1(x))), p1))
PARAMETER_LOOP(hard_sigmoid, vec_clamp(vec_add(vec_mul(p0, x), p1), vec_zero(), vec_set1(1.0F)))
PARAMETER_LOOP(swish, vec_mul(vec_sigmoid(vec_mul(p0, x)), x))

/* ---- Select ---- */

ALWAYS_INLINE void run_select(const unsigned char *condition, const void *then_values,
                              const void *else_values, float *out, size_t n, bool then_moves,
                              bool else_moves)
{
    struct operand a = operand_of(then_values, then_moves, n);
    struct operand b = operand_of(else_values, else_moves, n);
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vec_store(out + i,
                  vec_select(mask_load(condition + i), operand_at(&a, i), operand_at(&b, i)));
    if (i < n)
        vec_store_first(out + i,
                        vec_select(mask_load_first(condition + i, n - i),
                                   operand_last(&a, i, n - i), operand_last(&b, i, n - i)),
                        n - i);
}

#define SELECT_LOOP(name, then_moves, else_moves)                                                  \
    static void name(const void *condition, const void *then_values, const void *else_values,      \
                     void *out, size_t n)                                                          \
    {                                                                                              \
        run_select(condition, then_values, else_values, out, n, then_moves, else_moves);           \
    }

SELECT_LOOP(select_still, false, false)
SELECT_LOOP(select_still_moving, false, true)
SELECT_LOOP(select_moving_still, true, false)
SELECT_LOOP(select_moving, true, true)

const struct elementwise_kernels LEVEL_NAME(elementwise_f32, LEVEL) = {
    .binary =
        {
            [BINARY_ADD] = BINARY_ROW(add),
            [BINARY_SUBTRACT] = BINARY_ROW(sub),
            [BINARY_MULTIPLY] = BINARY_ROW(mul),
            [BINARY_DIVIDE] = BINARY_ROW(div),
            [BINARY_DIVIDE_TRUNC] = BINARY_ROW(div),
            [BINARY_MAXIMUM] = BINARY_ROW(maximum),
            [BINARY_MINIMUM] = BINARY_ROW(minimum),
            [BINARY_SQUARED_DIFFERENCE] = BINARY_ROW(squared_difference),
            [BINARY_PRELU] = BINARY_ROW(prelu),
            [BINARY_EQUAL] = BINARY_ROW(equal),
            [BINARY_NOT_EQUAL] = BINARY_ROW(not_equal),
            [BINARY_LESS] = BINARY_ROW(less),
            [BINARY_LESS_EQUAL] = BINARY_ROW(less_equal),
            [BINARY_GREATER] = BINARY_ROW(greater),
            [BINARY_GREATER_EQUAL] = BINARY_ROW(greater_equal),
        },
    .unary =
        {
            [UNARY_ABS] = unary_abs,
            [UNARY_NEGATIVE] = unary_negative,
            [UNARY_RELU] = unary_relu,
            [UNARY_CLAMP] = unary_clamp,
            [UNARY_FLOOR] = unary_floor,
            [UNARY_CEILING] = unary_ceiling,
            [UNARY_ROUND_HALF_TO_EVEN] = unary_round,
            [UNARY_SQRT] = unary_sqrt,
            [UNARY_SIGMOID] = unary_sigmoid,
            [UNARY_TANH] = unary_tanh,
            [UNARY_EXP] = unary_exp,
            [UNARY_LOG] = unary_log,
            [UNARY_ERF] = unary_erf,
            [UNARY_SOFTPLUS] = unary_softplus,
            [UNARY_MISH] = unary_mish,
            [UNARY_HSIGMOID] = unary_hsigmoid,
            [UNARY_HSWISH] = unary_hswish,
            [UNARY_SOFTSIGN] = unary_softsign,
            [UNARY_SWISH] = unary_swish,
            [UNARY_GELU_ERF] = unary_gelu_erf,
            [UNARY_GELU_TANH] = unary_gelu_tanh,
            [UNARY_ELU] = unary_elu,
            [UNARY_SELU] = unary_selu,
            [UNARY_HARD_SIGMOID] = unary_hard_sigmoid,
        },
    .select = {{select_still, select_still_moving}, {select_moving_still, select_moving}},
};
