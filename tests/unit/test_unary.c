/* kernels/unary: NaN, signed zero, wrap-around, rounding, extremes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>

#include "kernels/elementwise.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static float apply(enum unary_operation operation, float x, double p0, double p1)
{
    float out;
    unary_scalar(operation, IRRUN_F32)(&x, &out, 1, (double[]){p0, p1});
    return out;
}

static double apply_f64(enum unary_operation operation, double x)
{
    double out;
    unary_scalar(operation, IRRUN_F64)(&x, &out, 1, (double[]){1, 0});
    return out;
}

static void nan_stays_nan(void **state)
{
    (void)state;
    for (int i = 0; i < UNARY_N_OPERATIONS; i++) {
        if (i == UNARY_NOT || unary_gives_boolean((enum unary_operation)i))
            continue;
        if (!isnan(apply((enum unary_operation)i, NAN, 1, 2)) ||
            !isnan(apply_f64((enum unary_operation)i, (double)NAN)))
            fail_test("operation %d loses NaN\n", i);
    }
}

static void signs_of_zero_stay(void **state)
{
    (void)state;
    static const enum unary_operation operations[] = {UNARY_RELU, UNARY_TANH,  UNARY_SIN,
                                                      UNARY_SQRT, UNARY_CLAMP, UNARY_FLOOR};
    for (size_t i = 0; i < COUNT(operations); i++) {
        assert_true(signbit(apply(operations[i], -0.0f, -1, 1)));
        assert_false(signbit(apply(operations[i], 0.0f, -1, 1)));
    }
    assert_true(signbit(apply(UNARY_NEGATIVE, 0.0f, 0, 0)));
    assert_false(signbit(apply(UNARY_ABS, -0.0f, 0, 0)));
}

static void halves_are_rounded_as_asked(void **state)
{
    (void)state;
    static const float x[] = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 0.49999997f, 8388609};
    static const float even[] = {-2, -2, 0, 0, 2, 2, 0, 8388609};
    static const float away[] = {-3, -2, -1, 1, 2, 3, 0, 8388609};
    for (size_t i = 0; i < COUNT(x); i++) {
        assert_true(apply(UNARY_ROUND_HALF_TO_EVEN, x[i], 0, 0) == even[i]);
        assert_true(apply(UNARY_ROUND_HALF_AWAY_FROM_ZERO, x[i], 0, 0) == away[i]);
    }
}

static void integers_wrap(void **state)
{
    (void)state;
    int8_t lowest = INT8_MIN, out;
    unary_scalar(UNARY_ABS, IRRUN_I8)(&lowest, &out, 1, (double[]){0, 0});
    assert_int_equal(out, INT8_MIN);
    unary_scalar(UNARY_NEGATIVE, IRRUN_I8)(&lowest, &out, 1, (double[]){0, 0});
    assert_int_equal(out, INT8_MIN);
    uint16_t three = 3, negative;
    unary_scalar(UNARY_NEGATIVE, IRRUN_U16)(&three, &negative, 1, (double[]){0, 0});
    assert_int_equal(negative, 65533);
    int64_t large = INT64_MIN, sign;
    unary_scalar(UNARY_SIGN, IRRUN_I64)(&large, &sign, 1, (double[]){0, 0});
    assert_int_equal(sign, -1);
}

static void clamp_of_integers_takes_the_integers_inside(void **state)
{
    (void)state;
    int32_t x[] = {-5, -2, -1, 2, 3, 9}, out[6];
    static const int32_t expected[] = {-1, -1, -1, 2, 2, 2};
    unary_scalar(UNARY_CLAMP, IRRUN_I32)(x, out, 6, (double[]){-1.5, 2.5});
    assert_memory_equal(out, expected, sizeof expected);
    uint8_t byte[] = {0, 7, 255}, held[3];
    unary_scalar(UNARY_CLAMP, IRRUN_U8)(byte, held, 3, (double[]){-1e300, 1e300});
    assert_memory_equal(held, byte, 3);
    int64_t wide[] = {INT64_MIN, 0, INT64_MAX}, kept[3];
    unary_scalar(UNARY_CLAMP, IRRUN_I32)(x, out, 6, (double[]){(double)NAN, (double)NAN});
    assert_memory_equal(out, x, sizeof x);
    unary_scalar(UNARY_CLAMP, IRRUN_I64)(wide, kept, 3, (double[]){-(double)INFINITY, INFINITY});
    assert_memory_equal(kept, wide, sizeof wide);
}

static void extremes_do_not_overflow(void **state)
{
    (void)state;
    assert_true(apply(UNARY_SOFTPLUS, 1000, 0, 0) == 1000);
    assert_true(apply(UNARY_SOFTPLUS, -1000, 0, 0) == 0);
    assert_true(apply(UNARY_MISH, 1000, 0, 0) == 1000);
    assert_true(apply(UNARY_SIGMOID, -1000, 0, 0) == 0);
    assert_true(apply(UNARY_SIGMOID, 1000, 0, 0) == 1);
    assert_true(apply(UNARY_HARD_SIGMOID, 100, 0.2, 0.5) == 1);
    assert_true(apply(UNARY_HSWISH, -4, 0, 0) == 0);
    assert_true(apply(UNARY_HSWISH, 4, 0, 0) == 4);
}

/* Small arguments, for which exp(x) - 1 would lose all digits. */
static void elu_is_exact_near_zero(void **state)
{
    (void)state;
    assert_true(apply(UNARY_ELU, -1e-10f, 1, 0) == -1e-10f);
    assert_true(apply(UNARY_SELU, -1e-10f, 2, 0.5) == -1e-10f);
    assert_true(apply(UNARY_ELU, 3, 7, 0) == 3);
}

static void only_some_have_loops_for_integers(void **state)
{
    (void)state;
    assert_null(unary_scalar(UNARY_EXP, IRRUN_I32));
    assert_null(unary_scalar(UNARY_NOT, IRRUN_F32));
    assert_non_null(unary_scalar(UNARY_FLOOR, IRRUN_U64));
    assert_null(unary_scalar(UNARY_RELU, IRRUN_F16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(signs_of_zero_stay),
        cmocka_unit_test(halves_are_rounded_as_asked),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(clamp_of_integers_takes_the_integers_inside),
        cmocka_unit_test(extremes_do_not_overflow),
        cmocka_unit_test(elu_is_exact_near_zero),
        cmocka_unit_test(only_some_have_loops_for_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
