/* kernels/reduce and kernels/softmax: initial values, NaN and infinities, wrap-around, accuracy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>

#include "kernels/kernels.h"
#include "kernels/reduce.h"

static union accumulator reduce(enum reduce_operation operation, enum irrun_dtype dtype,
                                const void *in, size_t n)
{
    union accumulator result = reduce_start(operation, dtype);
    reduce_choose(&reduce_scalar, operation, dtype)(&(struct reduction){.n_rows = 1, .n = n}, in,
                                                    &result);
    return result;
}

static void rows_of_any_length_are_reduced(void **state)
{
    (void)state;
    float numbers[100];
    for (size_t n = 0; n < 100; n++) {
        double sum = 0, squares = 0, magnitudes = 0;
        for (size_t i = 0; i < n; i++) {
            numbers[i] = (float)i * (i % 2 ? 1 : -1) + 0.5f;
            sum += (double)numbers[i];
            squares += (double)numbers[i] * (double)numbers[i];
            magnitudes += fabs((double)numbers[i]);
        }
        assert_true(reduce(REDUCE_SUM, IRRUN_F32, numbers, n).f64 == sum);
        assert_true(reduce(REDUCE_SUM_OF_SQUARES, IRRUN_F32, numbers, n).f64 == squares);
        assert_true(reduce(REDUCE_SUM_OF_MAGNITUDES, IRRUN_F32, numbers, n).f64 == magnitudes);
    }
}

static void columns_are_reduced_separately(void **state)
{
    (void)state;
    union accumulator sums[3] = {{.f64 = 1}, {.f64 = 2}, {.f64 = 3}};
    double row[] = {10, 20, 30};
    struct reduction columns = {.n_rows = 1, .n = 3, .to_columns = true};
    reduce_choose(&reduce_scalar, REDUCE_SUM, IRRUN_F64)(&columns, row, sums);
    assert_true(sums[0].f64 == 11 && sums[1].f64 == 22 && sums[2].f64 == 33);
    reduce_choose(&reduce_scalar, REDUCE_MAX, IRRUN_F64)(&columns, row, sums);
    assert_true(sums[0].f64 == 11 && sums[1].f64 == 22 && sums[2].f64 == 33);
}

static void an_empty_reduction_gives_the_identity(void **state)
{
    (void)state;
    assert_true(reduce(REDUCE_SUM, IRRUN_F32, NULL, 0).f64 == 0);
    assert_true(reduce(REDUCE_PROD, IRRUN_F32, NULL, 0).f64 == 1);
    assert_true(reduce(REDUCE_PROD, IRRUN_I64, NULL, 0).i64 == 1);
    assert_true(reduce(REDUCE_AND, IRRUN_BOOLEAN, NULL, 0).u64 == 1);
    assert_true(reduce(REDUCE_OR, IRRUN_BOOLEAN, NULL, 0).u64 == 0);
}

static void max_and_min_ignore_nan(void **state)
{
    (void)state;
    float numbers[] = {NAN, -1, NAN, -3}, low[] = {-INFINITY, -INFINITY};
    assert_true(reduce(REDUCE_MAX, IRRUN_F32, numbers, 4).f64 == -1);
    assert_true(reduce(REDUCE_MIN, IRRUN_F32, numbers, 4).f64 == -3);
    assert_true(reduce(REDUCE_MAX, IRRUN_F32, low, 2).f64 == -INFINITY);
    assert_true(isnan(reduce(REDUCE_SUM, IRRUN_F32, numbers, 4).f64));
}

static void integers_are_signed_and_wrap(void **state)
{
    (void)state;
    int64_t numbers[] = {-5, INT64_MAX, 6};
    assert_true(reduce(REDUCE_MAX, IRRUN_I64, numbers, 1).i64 == -5);
    assert_true(reduce(REDUCE_MIN, IRRUN_I64, numbers, 3).i64 == -5);
    assert_true(reduce(REDUCE_SUM, IRRUN_I64, numbers, 3).i64 == INT64_MIN);
    assert_true(reduce(REDUCE_SUM_OF_MAGNITUDES, IRRUN_I64, numbers, 1).i64 == 5);
    uint64_t large[] = {UINT64_MAX, 1};
    assert_true(reduce(REDUCE_MAX, IRRUN_U64, large, 2).u64 == UINT64_MAX);
    assert_true(reduce(REDUCE_MIN, IRRUN_U64, large, 1).u64 == UINT64_MAX);
}

static void softmax_of_large_numbers_does_not_overflow(void **state)
{
    (void)state;
    float in[] = {1000, 1001, -1000}, out[3];
    struct softmax s = {1, 3, 1, false, 1};
    softmax_f32_scalar(&s, in, out);
    assert_true(fabsf(out[0] - 0.26894142f) < 1e-7f && fabsf(out[1] - 0.73105858f) < 1e-7f);
    assert_true(out[2] == 0);
    s.is_log = true;
    softmax_f32_scalar(&s, in, out);
    assert_true(fabsf(out[0] + 1.3132617f) < 1e-6f && fabsf(out[2] + 2001.3132617f) < 1e-3f);
}

static void softmax_of_minus_infinities_is_nan(void **state)
{
    (void)state;
    float in[] = {-INFINITY, -INFINITY, -INFINITY, 0}, out[4];
    softmax_f32_scalar(&(struct softmax){2, 2, 1, false, 1}, in, out);
    assert_true(isnan(out[0]) && isnan(out[1]) && out[2] == 0 && out[3] == 1);
}

static void softmax_over_an_inner_axis(void **state)
{
    (void)state;
    enum { OUTER = 2, N = 3, INNER = 70 };
    static double in[OUTER * N * INNER];
    for (size_t i = 0; i < OUTER * N * INNER; i++)
        in[i] = sin((double)i * 0.7) * 3;
    double expected[OUTER * N * INNER];
    for (size_t o = 0; o < OUTER; o++) {
        for (size_t c = 0; c < INNER; c++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++)
                sum += exp(in[(o * N + i) * INNER + c]);
            for (size_t i = 0; i < N; i++)
                expected[(o * N + i) * INNER + c] = exp(in[(o * N + i) * INNER + c]) / sum;
        }
    }
    softmax_f64(&(struct softmax){OUTER, N, INNER, false, 1}, in, in);
    for (size_t i = 0; i < OUTER * N * INNER; i++)
        assert_true(fabs(in[i] - expected[i]) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_any_length_are_reduced),
        cmocka_unit_test(columns_are_reduced_separately),
        cmocka_unit_test(an_empty_reduction_gives_the_identity),
        cmocka_unit_test(max_and_min_ignore_nan),
        cmocka_unit_test(integers_are_signed_and_wrap),
        cmocka_unit_test(softmax_of_large_numbers_does_not_overflow),
        cmocka_unit_test(softmax_of_minus_infinities_is_nan),
        cmocka_unit_test(softmax_over_an_inner_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
