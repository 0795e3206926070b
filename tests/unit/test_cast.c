/* cli/cast: whether a type holds all values of another, compared with converting all values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "cli/cast.h"
#include "tensor/tensor.h"

static const enum irrun_dtype file_types[] = {IRRUN_BOOLEAN, IRRUN_F16, IRRUN_F32, IRRUN_F64,
                                              IRRUN_I8,      IRRUN_I16, IRRUN_I32, IRRUN_I64,
                                              IRRUN_U8,      IRRUN_U16, IRRUN_U32, IRRUN_U64};
#define N_FILE_TYPES (sizeof file_types / sizeof file_types[0])

static const enum irrun_dtype all_types[] = {
    IRRUN_BOOLEAN, IRRUN_BF16, IRRUN_F16, IRRUN_F32, IRRUN_F64, IRRUN_I4,
    IRRUN_I8,      IRRUN_I16,  IRRUN_I32, IRRUN_I64, IRRUN_U1,  IRRUN_U2,
    IRRUN_U4,      IRRUN_U8,   IRRUN_U16, IRRUN_U32, IRRUN_U64};
#define N_ALL_TYPES (sizeof all_types / sizeof all_types[0])

/* Returns whether a value is unchanged by a conversion to another type and back. */
static bool survives(enum irrun_dtype from, enum irrun_dtype to, uint64_t bits)
{
    uint64_t moved = 0, back = 0;
    size_t size_bytes = dtype_size(from);
    if (dtype_is_float(from) && isnan(element_as_f64(from, &bits, 0)))
        return dtype_is_float(to);
    bool is_negative = dtype_is_signed(from)
                           ? element_as_i64(from, &bits, 0) < 0
                           : dtype_is_float(from) && element_as_f64(from, &bits, 0) < 0;
    if (is_negative && !dtype_is_signed(to) && !dtype_is_float(to))
        return false;
    if (from == IRRUN_U64 && dtype_is_signed(to) && bits > INT64_MAX)
        return false;
    convert_elements(from, &bits, to, &moved, 1);
    bool is_whole = !dtype_is_float(from) && !dtype_is_float(to);
    if (is_whole && element_as_i64(from, &bits, 0) != element_as_i64(to, &moved, 0))
        return false;
    if (dtype_is_float(from) && isinf(element_as_f64(to, &moved, 0)))
        return isinf(element_as_f64(from, &bits, 0));
    if (to == IRRUN_F64 && fabs(element_as_f64(to, &moved, 0)) >= 0x1p63)
        return from != IRRUN_I64 && from != IRRUN_U64;
    convert_elements(to, &moved, from, &back, 1);
    return memcmp(&bits, &back, size_bytes) == 0;
}

/* Tries all values of types up to 16 bits, and the limits and powers of two of larger types. */
static bool all_survive(enum irrun_dtype from, enum irrun_dtype to)
{
    unsigned n_bits = from == IRRUN_BOOLEAN ? 1 : (unsigned)dtype_size(from) * 8;
    uint64_t mask = n_bits == 64 ? UINT64_MAX : (UINT64_C(1) << n_bits) - 1;
    for (uint64_t bits = 0; n_bits <= 16 && bits <= mask; bits++) {
        if (!survives(from, to, bits))
            return false;
    }
    for (unsigned k = 0; n_bits > 16 && k < n_bits; k++) {
        uint64_t power = UINT64_C(1) << k;
        if (!survives(from, to, power & mask) || !survives(from, to, (power - 1) & mask) ||
            !survives(from, to, (0 - power) & mask) || !survives(from, to, (power + 1) & mask))
            return false;
    }
    return true;
}

static void is_safe_exactly_if_every_value_survives(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FILE_TYPES; i++) {
        for (size_t j = 0; j < N_ALL_TYPES; j++) {
            enum irrun_dtype from = file_types[i], to = all_types[j];
            bool is_sub_byte = dtype_stored_bits(to) < 8 && to != IRRUN_BOOLEAN;
            if (is_sub_byte) /* its whole byte in memory keeps values that do not fit */
                continue;
            if (cast_is_safe(from, to) != all_survive(from, to))
                fail_test("%s to %s: cast_is_safe says %d\n", irrun_dtype_name(from),
                          irrun_dtype_name(to), cast_is_safe(from, to));
        }
    }
}

static void only_booleans_fit_into_fewer_than_eight_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FILE_TYPES; i++) {
        bool is_boolean = file_types[i] == IRRUN_BOOLEAN;
        assert_int_equal(cast_is_safe(file_types[i], IRRUN_U1), is_boolean);
        assert_int_equal(cast_is_safe(file_types[i], IRRUN_U4), is_boolean);
        assert_int_equal(cast_is_safe(file_types[i], IRRUN_I4), is_boolean);
    }
}

static void codes_are_not_numbers(void **state)
{
    (void)state;
    assert_true(cast_is_safe(IRRUN_NF4, IRRUN_NF4));
    assert_false(cast_is_safe(IRRUN_U8, IRRUN_NF4));
    assert_false(cast_is_safe(IRRUN_NF4, IRRUN_F32));
    assert_false(cast_is_safe(IRRUN_F32, IRRUN_F8E4M3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_safe_exactly_if_every_value_survives),
        cmocka_unit_test(only_booleans_fit_into_fewer_than_eight_bits),
        cmocka_unit_test(codes_are_not_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
