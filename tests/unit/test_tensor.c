/* tensor/tensor: sizes, and conversions with known results. test_convert.c checks all pairs of
 * types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "tensor/tensor.h"

#define SHAPE(...)                                                                                 \
    shape_of(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static void size_is_elements_times_bytes(void **state)
{
    (void)state;
    struct irrun_shape shape = SHAPE(2, 3);
    struct irrun_shape scalar = {.rank = 0}, empty = SHAPE(0, 5);
    size_t size_bytes;
    assert_true(tensor_size(IRRUN_F32, &shape, &size_bytes) && size_bytes == 24);
    assert_true(tensor_size(IRRUN_I4, &shape, &size_bytes) && size_bytes == 6);
    assert_true(tensor_size(IRRUN_F64, &scalar, &size_bytes) && size_bytes == 8);
    assert_true(tensor_size(IRRUN_F64, &empty, &size_bytes) && size_bytes == 0);
    struct irrun_tensor tensor = {IRRUN_I64, shape, NULL};
    assert_int_equal(tensor_n_bytes(&tensor), 48);
}

static void rejects_sizes_that_overflow(void **state)
{
    (void)state;
    size_t size_bytes;
    struct irrun_shape shape = SHAPE(INT64_MAX / 2);
    assert_true(tensor_size(IRRUN_U8, &shape, &size_bytes));
    assert_false(tensor_size(IRRUN_F32, &shape, &size_bytes));
    shape = SHAPE(INT64_MAX / 4);
    assert_false(tensor_size(IRRUN_F64, &shape, &size_bytes));
    shape = SHAPE(INT64_C(1) << 40, INT64_C(1) << 40);
    assert_false(tensor_size(IRRUN_U8, &shape, &size_bytes));
    shape = SHAPE(2, -3);
    assert_false(tensor_size(IRRUN_U8, &shape, &size_bytes));
    shape = SHAPE(2);
    assert_false(tensor_size(IRRUN_STRING, &shape, &size_bytes));
    assert_false(tensor_size(IRRUN_DYNAMIC, &shape, &size_bytes));
}

/* The results are those of OpenVINO where they are defined. */
static void float_to_integer_truncates_and_keeps_low_bytes(void **state)
{
    (void)state;
    static const float values[] = {300.0f, -3.7f, NAN, INFINITY, 1e10f, 3e9f, -0.9f};
    static const uint8_t as_u8[] = {44, 253, 0, 0, 0, 0, 0};
    static const int16_t as_i16[] = {300, -3, 0, 0, 0, 0, 0};
    static const int32_t as_i32[] = {300, -3, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, 0};
    static const uint32_t as_u32[] = {300, UINT32_MAX - 2, 0, 0, 1410065408, 3000000000u, 0};
    static const int64_t as_i64[] = {300, -3, INT64_MIN, INT64_MIN, 10000000000, 3000000000, 0};
    uint8_t u8[7];
    int16_t i16[7];
    int32_t i32[7];
    uint32_t u32[7];
    int64_t i64[7];
    convert_elements(IRRUN_F32, values, IRRUN_U8, u8, 7);
    convert_elements(IRRUN_F32, values, IRRUN_I16, i16, 7);
    convert_elements(IRRUN_F32, values, IRRUN_I32, i32, 7);
    convert_elements(IRRUN_F32, values, IRRUN_U32, u32, 7);
    convert_elements(IRRUN_F32, values, IRRUN_I64, i64, 7);
    assert_memory_equal(u8, as_u8, sizeof u8);
    assert_memory_equal(i16, as_i16, sizeof i16);
    assert_memory_equal(i32, as_i32, sizeof i32);
    assert_memory_equal(u32, as_u32, sizeof u32);
    assert_memory_equal(i64, as_i64, sizeof i64);
}

static void long_integers_keep_every_bit(void **state)
{
    (void)state;
    int64_t i64[] = {INT64_MAX, INT64_MIN, -1, INT64_C(9007199254740993)};
    uint64_t u64[4];
    int64_t back[4];
    convert_elements(IRRUN_I64, i64, IRRUN_U64, u64, 4);
    convert_elements(IRRUN_U64, u64, IRRUN_I64, back, 4);
    assert_memory_equal(u64, i64, sizeof i64);
    assert_memory_equal(back, i64, sizeof i64);
}

static void copying_keeps_bits_that_mean_nothing(void **state)
{
    (void)state;
    uint16_t f16[] = {0x7D01, 0xFC01, 0x0001}, copy[3];
    uint8_t truth[] = {0, 1, 0x80, 0xFF}, truth_copy[4];
    convert_elements(IRRUN_F16, f16, IRRUN_F16, copy, 3);
    assert_memory_equal(copy, f16, sizeof f16);
    convert_elements(IRRUN_BOOLEAN, truth, IRRUN_BOOLEAN, truth_copy, 4);
    assert_memory_equal(truth_copy, truth, sizeof truth);
}

static void elements_are_read_one_by_one(void **state)
{
    (void)state;
    const uint64_t u64[] = {7, UINT64_MAX};
    const int64_t i64[] = {INT64_MAX, INT64_C(9007199254740995)};
    const float f32[] = {-2.9f, NAN};
    const uint8_t truth[] = {0, 0x80};
    const uint16_t f16[] = {0x3C00, 0xC500};
    assert_true(element_as_i64(IRRUN_U64, u64, 0) == 7);
    assert_true(element_as_i64(IRRUN_U64, u64, 1) == INT64_MAX);
    assert_true(element_as_f64(IRRUN_U64, u64, 1) == 18446744073709551616.0);
    assert_true(element_as_i64(IRRUN_I64, i64, 0) == INT64_MAX);
    assert_true(element_as_f64(IRRUN_I64, i64, 1) == 9007199254740996.0);
    assert_true(element_as_i64(IRRUN_F32, f32, 0) == -2);
    assert_true(element_as_i64(IRRUN_F32, f32, 1) == INT64_MIN);
    assert_true(element_as_f64(IRRUN_F32, f32, 0) == (double)-2.9f);
    assert_true(isnan(element_as_f64(IRRUN_F32, f32, 1)));
    assert_true(element_as_i64(IRRUN_BOOLEAN, truth, 1) == 1);
    assert_true(element_as_f64(IRRUN_F16, f16, 1) == -5.0);
    assert_true(element_as_i64(IRRUN_F16, f16, 0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_is_elements_times_bytes),
        cmocka_unit_test(rejects_sizes_that_overflow),
        cmocka_unit_test(float_to_integer_truncates_and_keeps_low_bytes),
        cmocka_unit_test(long_integers_keep_every_bit),
        cmocka_unit_test(copying_keeps_bits_that_mean_nothing),
        cmocka_unit_test(elements_are_read_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
