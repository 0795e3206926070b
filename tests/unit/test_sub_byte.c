/* tensor/sub_byte: the orders of bits of each type, and exact sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/sub_byte.h"

static void sizes_round_up_to_whole_groups(void **state)
{
    (void)state;
    static const struct {
        enum irrun_dtype dtype;
        size_t n, size_bytes;
    } rows[] = {
        {IRRUN_I4, 0, 0},     {IRRUN_I4, 1, 1},     {IRRUN_I4, 2, 1},      {IRRUN_U4, 3, 2},
        {IRRUN_NF4, 5, 3},    {IRRUN_F4E2M1, 5, 3}, {IRRUN_U1, 8, 1},      {IRRUN_U1, 9, 2},
        {IRRUN_U2, 4, 1},     {IRRUN_U2, 5, 2},     {IRRUN_U3, 0, 0},      {IRRUN_U3, 1, 3},
        {IRRUN_U3, 8, 3},     {IRRUN_U3, 9, 6},     {IRRUN_U6, 1, 3},      {IRRUN_U6, 4, 3},
        {IRRUN_U6, 5, 6},     {IRRUN_U8, 7, 7},     {IRRUN_BOOLEAN, 7, 7}, {IRRUN_F16, 7, 14},
        {IRRUN_F8E8M0, 3, 3}, {IRRUN_I64, 3, 24},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t size_bytes = 99;
        assert_true(sub_byte_size(rows[i].dtype, rows[i].n, &size_bytes));
        assert_int_equal(size_bytes, rows[i].size_bytes);
    }
}

static void sizes_do_not_overflow(void **state)
{
    (void)state;
    size_t size_bytes;
    assert_true(sub_byte_size(IRRUN_U1, SIZE_MAX, &size_bytes));
    assert_int_equal(size_bytes, SIZE_MAX / 8 + 1);
    assert_true(sub_byte_size(IRRUN_U3, SIZE_MAX, &size_bytes));
    assert_true(sub_byte_size(IRRUN_U8, SIZE_MAX, &size_bytes));
    assert_false(sub_byte_size(IRRUN_F16, SIZE_MAX / 2 + 1, &size_bytes));
    assert_false(sub_byte_size(IRRUN_I64, SIZE_MAX / 4, &size_bytes));
    assert_false(sub_byte_size(IRRUN_STRING, 1, &size_bytes));
    assert_false(sub_byte_size(IRRUN_DYNAMIC, 1, &size_bytes));
}

static void assert_unpacks(enum irrun_dtype dtype, const unsigned char *packed, size_t n_packed,
                           const unsigned char *expected, size_t n)
{
    /* Also each shorter length, in memory that has exactly as many bytes and elements. */
    for (size_t length = 0; length <= n; length++) {
        size_t size_bytes;
        assert_true(sub_byte_size(dtype, length, &size_bytes));
        assert_true(size_bytes <= n_packed);
        unsigned char *source = malloc(size_bytes ? size_bytes : 1);
        unsigned char *out = malloc(length ? length : 1);
        assert_non_null(source);
        assert_non_null(out);
        memcpy(source, packed, size_bytes);
        sub_byte_unpack(dtype, source, length, out);
        assert_memory_equal(out, expected, length);
        free(source);
        free(out);
    }
}

static void nibbles_come_low_half_first(void **state)
{
    (void)state;
    static const unsigned char packed[] = {0x21, 0x83, 0xF7};
    static const unsigned char codes[] = {1, 2, 3, 8, 7, 15};
    static const unsigned char extended[] = {1, 2, 3, 0xF8, 7, 0xFF};
    assert_unpacks(IRRUN_U4, packed, 3, codes, 6);
    assert_unpacks(IRRUN_NF4, packed, 3, codes, 6);
    assert_unpacks(IRRUN_F4E2M1, packed, 3, codes, 6);
    assert_unpacks(IRRUN_I4, packed, 3, extended, 6);
}

static void u2_comes_low_bits_first(void **state)
{
    (void)state;
    static const unsigned char packed[] = {0xE4, 0x1B};
    static const unsigned char codes[] = {0, 1, 2, 3, 3, 2, 1, 0};
    assert_unpacks(IRRUN_U2, packed, 2, codes, 8);
}

static void u1_comes_high_bit_first(void **state)
{
    (void)state;
    static const unsigned char packed[] = {0xB0, 0x01};
    static const unsigned char codes[] = {1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    assert_unpacks(IRRUN_U1, packed, 2, codes, 16);
}

/* 0 1 2 3 4 5 6 7: low bits 00 01 10 11 | 00 01 10 11, high bits 0000 1111; then backwards. */
static void u3_is_split_over_three_bytes(void **state)
{
    (void)state;
    static const unsigned char packed[] = {0x1B, 0x1B, 0x0F, 0xE4, 0xE4, 0xF0};
    static const unsigned char codes[] = {0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0};
    assert_unpacks(IRRUN_U3, packed, 6, codes, 16);
}

/* 1 18 35 52 = 0x01 0x12 0x23 0x34: low nibbles 1 2 | 3 4, high bits 00 01 10 11. */
static void u6_is_split_over_three_bytes(void **state)
{
    (void)state;
    static const unsigned char packed[] = {0x12, 0x34, 0x1B, 0x0F, 0xF0, 0xC3};
    static const unsigned char codes[] = {1, 18, 35, 52, 48, 15, 15, 48};
    assert_unpacks(IRRUN_U6, packed, 6, codes, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_round_up_to_whole_groups),
        cmocka_unit_test(sizes_do_not_overflow),
        cmocka_unit_test(nibbles_come_low_half_first),
        cmocka_unit_test(u2_comes_low_bits_first),
        cmocka_unit_test(u1_comes_high_bit_first),
        cmocka_unit_test(u3_is_split_over_three_bytes),
        cmocka_unit_test(u6_is_split_over_three_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
