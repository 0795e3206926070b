/* kernels/binary: wrap-around, integer division, NaN, booleans, and scalar operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "kernels/elementwise.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* One pair of elements of type T. */
#define CHECK(T, dtype, operation, a, b, expected)                                                 \
    do {                                                                                           \
        T x = (T)(a), y = (T)(b), got;                                                             \
        assert_true(binary_scalar(operation, dtype)(&x, &y, &got, 1));                             \
        if (got != (T)(expected))                                                                  \
            fail_test("line %d: got %.17g\n", __LINE__, (double)got);                              \
    } while (0)

static void integers_wrap(void **state)
{
    (void)state;
    CHECK(uint8_t, IRRUN_U8, BINARY_ADD, 200, 100, 44);
    CHECK(int8_t, IRRUN_I8, BINARY_SUBTRACT, -128, 1, 127);
    CHECK(uint16_t, IRRUN_U16, BINARY_MULTIPLY, 65535, 65535, 1);
    CHECK(int16_t, IRRUN_I16, BINARY_MULTIPLY, 300, 300, 24464);
    CHECK(int32_t, IRRUN_I32, BINARY_ADD, INT32_MAX, 1, INT32_MIN);
    CHECK(int64_t, IRRUN_I64, BINARY_MULTIPLY, INT64_MAX, 2, -2);
    CHECK(uint8_t, IRRUN_U8, BINARY_SQUARED_DIFFERENCE, 1, 3, 4);
    CHECK(int8_t, IRRUN_I8, BINARY_SQUARED_DIFFERENCE, -100, 100, 64);
    CHECK(int32_t, IRRUN_I32, BINARY_POWER, 3, 40, 689956897);
}

static void division_of_integers_rounds_down_or_to_zero(void **state)
{
    (void)state;
    static const int pairs[][6] = {
        /* a, b, floor, trunc, floor mod, mod */
        {7, 2, 3, 3, 1, 1},     {7, -2, -4, -3, -1, 1}, {-7, 2, -4, -3, 1, -1},
        {-7, -2, 3, 3, -1, -1}, {6, -3, -2, -2, 0, 0},  {0, -5, 0, 0, 0, 0},
        {-1, 3, -1, 0, 2, -1},
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        int a = pairs[i][0], b = pairs[i][1];
        CHECK(int8_t, IRRUN_I8, BINARY_DIVIDE, a, b, pairs[i][2]);
        CHECK(int16_t, IRRUN_I16, BINARY_DIVIDE_TRUNC, a, b, pairs[i][3]);
        CHECK(int32_t, IRRUN_I32, BINARY_FLOOR_MOD, a, b, pairs[i][4]);
        CHECK(int64_t, IRRUN_I64, BINARY_MOD, a, b, pairs[i][5]);
    }
    CHECK(uint8_t, IRRUN_U8, BINARY_DIVIDE, 200, 7, 28);
    CHECK(uint64_t, IRRUN_U64, BINARY_FLOOR_MOD, UINT64_MAX, 10, 5);
}

static void lowest_number_by_minus_one_stays(void **state)
{
    (void)state;
    CHECK(int8_t, IRRUN_I8, BINARY_DIVIDE, INT8_MIN, -1, INT8_MIN);
    CHECK(int16_t, IRRUN_I16, BINARY_DIVIDE_TRUNC, INT16_MIN, -1, INT16_MIN);
    CHECK(int32_t, IRRUN_I32, BINARY_DIVIDE, INT32_MIN, -1, INT32_MIN);
    CHECK(int64_t, IRRUN_I64, BINARY_DIVIDE, INT64_MIN, -1, INT64_MIN);
    CHECK(int64_t, IRRUN_I64, BINARY_FLOOR_MOD, INT64_MIN, -1, 0);
    CHECK(int32_t, IRRUN_I32, BINARY_MOD, INT32_MIN, -1, 0);
}

static void integers_refuse_to_divide_by_zero(void **state)
{
    (void)state;
    static const enum binary_operation operations[] = {BINARY_DIVIDE, BINARY_DIVIDE_TRUNC,
                                                       BINARY_FLOOR_MOD, BINARY_MOD};
    static const enum irrun_dtype dtypes[] = {IRRUN_I8, IRRUN_I16, IRRUN_I32, IRRUN_I64,
                                              IRRUN_U8, IRRUN_U16, IRRUN_U32, IRRUN_U64};
    uint64_t a[4], b[4], out[4];
    memset(a, 1, sizeof a);
    for (size_t i = 0; i < COUNT(operations); i++) {
        for (size_t j = 0; j < COUNT(dtypes); j++) {
            memset(b, 1, sizeof b);
            assert_true(binary_scalar(operations[i], dtypes[j])(a, b, out, 4));
            memset(b, 0, sizeof b);
            assert_false(binary_scalar(operations[i], dtypes[j])(a, b, out, 4));
        }
    }
    CHECK(float, IRRUN_F32, BINARY_DIVIDE, 1, 0, INFINITY);
}

static void power_of_integers(void **state)
{
    (void)state;
    CHECK(int32_t, IRRUN_I32, BINARY_POWER, -2, 3, -8);
    CHECK(int32_t, IRRUN_I32, BINARY_POWER, 0, 0, 1);
    CHECK(int32_t, IRRUN_I32, BINARY_POWER, 2, -1, 0);
    CHECK(int32_t, IRRUN_I32, BINARY_POWER, -1, -3, -1);
    CHECK(int32_t, IRRUN_I32, BINARY_POWER, -1, -4, 1);
    CHECK(uint64_t, IRRUN_U64, BINARY_POWER, 3, 40, 12157665459056928801u);
    int32_t zero = 0, minus_one = -1, out;
    assert_false(binary_scalar(BINARY_POWER, IRRUN_I32)(&zero, &minus_one, &out, 1));
}

static void a_nan_on_the_left_is_kept(void **state)
{
    (void)state;
    float nan = NAN, one = 1, out;
    static const enum binary_operation operations[] = {BINARY_MAXIMUM, BINARY_MINIMUM};
    for (size_t i = 0; i < COUNT(operations); i++) {
        assert_true(binary_scalar(operations[i], IRRUN_F32)(&nan, &one, &out, 1));
        assert_true(isnan(out));
        assert_true(binary_scalar(operations[i], IRRUN_F32)(&one, &nan, &out, 1));
        assert_true(out == 1);
    }
}

static void comparisons_with_nan_are_false(void **state)
{
    (void)state;
    double nan = NAN, one = 1;
    for (int operation = BINARY_EQUAL; operation <= BINARY_GREATER_EQUAL; operation++) {
        uint8_t out[2];
        binary_fn *compare = binary_scalar((enum binary_operation)operation, IRRUN_F64);
        assert_true(compare(&nan, &one, &out[0], 1) && compare(&one, &nan, &out[1], 1));
        assert_int_equal(out[0], operation == BINARY_NOT_EQUAL);
        assert_int_equal(out[1], operation == BINARY_NOT_EQUAL);
    }
}

static void integers_are_compared_exactly(void **state)
{
    (void)state;
    int32_t a = 16777216, b = 16777217;
    uint8_t out;
    assert_true(binary_scalar(BINARY_EQUAL, IRRUN_I32)(&a, &b, &out, 1));
    assert_int_equal(out, 0);
    int8_t minus = -1, plus = 1;
    assert_true(binary_scalar(BINARY_LESS, IRRUN_I8)(&minus, &plus, &out, 1));
    assert_int_equal(out, 1);
    assert_true(binary_scalar(BINARY_LESS, IRRUN_U8)(&minus, &plus, &out, 1));
    assert_int_equal(out, 0);
}

static void any_byte_but_zero_is_true(void **state)
{
    (void)state;
    static const uint8_t a[] = {0, 0, 2, 255, 128}, b[] = {0, 7, 0, 1, 64};
    static const struct {
        enum binary_operation operation;
        uint8_t out[5];
    } rows[] = {
        {BINARY_EQUAL, {1, 0, 0, 1, 1}},   {BINARY_NOT_EQUAL, {0, 1, 1, 0, 0}},
        {BINARY_LESS, {0, 1, 0, 0, 0}},    {BINARY_LESS_EQUAL, {1, 1, 0, 1, 1}},
        {BINARY_GREATER, {0, 0, 1, 0, 0}}, {BINARY_GREATER_EQUAL, {1, 0, 1, 1, 1}},
        {BINARY_BIT_AND, {0, 0, 0, 1, 1}}, {BINARY_BIT_OR, {0, 1, 1, 1, 1}},
        {BINARY_BIT_XOR, {0, 1, 1, 0, 0}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t out[5];
        assert_true(binary_scalar(rows[i].operation, IRRUN_BOOLEAN)(a, b, out, 5));
        assert_memory_equal(out, rows[i].out, 5);
    }
}

static void an_operand_may_be_a_scalar(void **state)
{
    (void)state;
    enum { N = 1000 };
    static double many[N], out[N];
    double one = 3;
    binary_fn *subtract = binary_scalar(BINARY_SUBTRACT, IRRUN_F64);
    for (size_t i = 0; i < N; i++)
        many[i] = (double)i;
    static const size_t sizes[] = {1, 2, 3, 255, 256, 257, N};
    for (size_t k = 0; k < COUNT(sizes); k++) {
        size_t n = sizes[k];
        assert_true(binary_apply(subtract, 8, many, true, &one, false, 8, out, n));
        for (size_t i = 0; i < n; i++)
            assert_true(out[i] == many[i] - 3);
        assert_true(binary_apply(subtract, 8, &one, false, many, true, 8, out, n));
        for (size_t i = 0; i < n; i++)
            assert_true(out[i] == 3 - many[i]);
        assert_true(binary_apply(subtract, 8, &one, false, &one, false, 8, out, n));
        for (size_t i = 0; i < n; i++)
            assert_true(out[i] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(division_of_integers_rounds_down_or_to_zero),
        cmocka_unit_test(lowest_number_by_minus_one_stays),
        cmocka_unit_test(integers_refuse_to_divide_by_zero),
        cmocka_unit_test(power_of_integers),
        cmocka_unit_test(a_nan_on_the_left_is_kept),
        cmocka_unit_test(comparisons_with_nan_are_false),
        cmocka_unit_test(integers_are_compared_exactly),
        cmocka_unit_test(any_byte_but_zero_is_true),
        cmocka_unit_test(an_operand_may_be_a_scalar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
