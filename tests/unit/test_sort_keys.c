/* kernels/sort_keys: keys have the order of the elements, for every type; the sort is stable.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>

#include "kernels/sort_keys.h"
#include "tensor/half.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Checks that the key of every element is above the one before it. */
static void assert_rising(enum irrun_dtype dtype, const void *data, size_t n)
{
    uint64_t keys[32];
    sort_keys(dtype, data, 1, n, keys);
    for (size_t i = 1; i < n; i++)
        assert_true(keys[i - 1] < keys[i]);
}

static void keys_rise_with_floats_and_nan_is_on_top(void **state)
{
    (void)state;
    const double numbers[] = {-INFINITY, -1e30, -2, -0.5, 0, 0.25, 1, 1e30, INFINITY, NAN};
    float floats[COUNT(numbers)];
    uint16_t halves[COUNT(numbers)], bfloats[COUNT(numbers)];
    for (size_t i = 0; i < COUNT(numbers); i++) {
        floats[i] = (float)numbers[i];
        halves[i] = f16_from_f32(fabs(numbers[i]) == 1e30 ? (float)(numbers[i] / 1e26) : floats[i]);
        bfloats[i] = bf16_from_f32(floats[i]);
    }
    assert_rising(IRRUN_F64, numbers, COUNT(numbers));
    assert_rising(IRRUN_F32, floats, COUNT(floats));
    assert_rising(IRRUN_F16, halves, COUNT(halves));
    assert_rising(IRRUN_BF16, bfloats, COUNT(bfloats));
}

static void zeros_and_nans_have_one_key_each(void **state)
{
    (void)state;
    const uint32_t bits[] = {0x00000000, 0x80000000, 0x7fc00000, 0xffc00001, 0x7f800001};
    uint64_t keys[COUNT(bits)];
    sort_keys(IRRUN_F32, bits, 1, COUNT(bits), keys);
    assert_true(keys[0] == keys[1]);
    assert_true(keys[2] == keys[3] && keys[3] == keys[4]);
}

static void keys_rise_with_integers_to_their_limits(void **state)
{
    (void)state;
    const int8_t i8[] = {INT8_MIN, -1, 0, 1, INT8_MAX};
    const int16_t i16[] = {INT16_MIN, -1, 0, 1, INT16_MAX};
    const int32_t i32[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
    const int64_t i64[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    const uint8_t u8[] = {0, 1, 127, 128, UINT8_MAX};
    const uint16_t u16[] = {0, 1, 32768, UINT16_MAX};
    const uint32_t u32[] = {0, 1, 0x80000000, UINT32_MAX};
    const uint64_t u64[] = {0, 1, (uint64_t)1 << 63, UINT64_MAX - 1, UINT64_MAX};
    assert_rising(IRRUN_I8, i8, COUNT(i8));
    assert_rising(IRRUN_I16, i16, COUNT(i16));
    assert_rising(IRRUN_I32, i32, COUNT(i32));
    assert_rising(IRRUN_I64, i64, COUNT(i64));
    assert_rising(IRRUN_U8, u8, COUNT(u8));
    assert_rising(IRRUN_U16, u16, COUNT(u16));
    assert_rising(IRRUN_U32, u32, COUNT(u32));
    assert_rising(IRRUN_U64, u64, COUNT(u64));
}

static void a_stride_skips_elements(void **state)
{
    (void)state;
    const uint8_t data[] = {9, 1, 8, 1, 7};
    uint64_t keys[3];
    sort_keys(IRRUN_U8, data, 2, 3, keys);
    assert_true(keys[0] == 9 && keys[1] == 8 && keys[2] == 7);
}

static bool is_tens_before(const void *context, size_t a, size_t b)
{
    const int *numbers = context;
    return numbers[a] / 10 < numbers[b] / 10;
}

static void sorts_any_number_of_places_and_keeps_equals_in_order(void **state)
{
    (void)state;
    int numbers[40] = {0};
    size_t places[40], spare[40];
    for (size_t n = 0; n <= 40; n++) {
        for (size_t i = 0; i < n; i++) {
            numbers[i] = (int)(i * 37 % 101);
            places[i] = i;
        }
        argsort(places, n, spare, is_tens_before, numbers);
        for (size_t i = 1; i < n; i++) {
            int before = numbers[places[i - 1]] / 10, after = numbers[places[i]] / 10;
            assert_true(before < after || (before == after && places[i - 1] < places[i]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_rise_with_floats_and_nan_is_on_top),
        cmocka_unit_test(zeros_and_nans_have_one_key_each),
        cmocka_unit_test(keys_rise_with_integers_to_their_limits),
        cmocka_unit_test(a_stride_skips_elements),
        cmocka_unit_test(sorts_any_number_of_places_and_keeps_equals_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
