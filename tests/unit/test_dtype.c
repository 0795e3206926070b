/* tensor/dtype: names and sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "tensor/dtype.h"

/* Both spellings of the IR, and the size of an element. */
static const struct {
    enum irrun_dtype dtype;
    const char *name, *port_name;
    unsigned stored_bits;
    size_t size_bytes;
} rows[] = {
    {IRRUN_DYNAMIC, "dynamic", "UNSPECIFIED", 0, 0},
    {IRRUN_BOOLEAN, "boolean", "BOOL", 8, 1},
    {IRRUN_BF16, "bf16", "BF16", 16, 2},
    {IRRUN_F16, "f16", "FP16", 16, 2},
    {IRRUN_F32, "f32", "FP32", 32, 4},
    {IRRUN_F64, "f64", "FP64", 64, 8},
    {IRRUN_I4, "i4", "I4", 4, 1},
    {IRRUN_I8, "i8", "I8", 8, 1},
    {IRRUN_I16, "i16", "I16", 16, 2},
    {IRRUN_I32, "i32", "I32", 32, 4},
    {IRRUN_I64, "i64", "I64", 64, 8},
    {IRRUN_U1, "u1", "BIN", 1, 1},
    {IRRUN_U2, "u2", "U2", 2, 1},
    {IRRUN_U3, "u3", "U3", 3, 1},
    {IRRUN_U4, "u4", "U4", 4, 1},
    {IRRUN_U6, "u6", "U6", 6, 1},
    {IRRUN_U8, "u8", "U8", 8, 1},
    {IRRUN_U16, "u16", "U16", 16, 2},
    {IRRUN_U32, "u32", "U32", 32, 4},
    {IRRUN_U64, "u64", "U64", 64, 8},
    {IRRUN_NF4, "nf4", "NF4", 4, 1},
    {IRRUN_F8E4M3, "f8e4m3", "F8E4M3", 8, 1},
    {IRRUN_F8E5M2, "f8e5m2", "F8E5M2", 8, 1},
    {IRRUN_F4E2M1, "f4e2m1", "F4E2M1", 4, 1},
    {IRRUN_F8E8M0, "f8e8m0", "F8E8M0", 8, 1},
    {IRRUN_STRING, "string", "STRING", 0, 0},
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static void every_type_has_its_names_and_sizes(void **state)
{
    (void)state;
    assert_int_equal(N_ROWS, IRRUN_N_DTYPES);
    for (size_t i = 0; i < N_ROWS; i++) {
        assert_string_equal(irrun_dtype_name(rows[i].dtype), rows[i].name);
        assert_int_equal(dtype_stored_bits(rows[i].dtype), rows[i].stored_bits);
        assert_int_equal(dtype_size(rows[i].dtype), rows[i].size_bytes);
    }
}

static void reads_both_spellings_in_any_case(void **state)
{
    (void)state;
    enum irrun_dtype dtype;
    for (size_t i = 0; i < N_ROWS; i++) {
        dtype = IRRUN_N_DTYPES;
        assert_true(dtype_parse(rows[i].name, &dtype));
        assert_int_equal(dtype, rows[i].dtype);
        dtype = IRRUN_N_DTYPES;
        assert_true(dtype_parse(rows[i].port_name, &dtype));
        assert_int_equal(dtype, rows[i].dtype);
    }
    assert_true(dtype_parse("fp32", &dtype) && dtype == IRRUN_F32);
    assert_true(dtype_parse("BOOLEAN", &dtype) && dtype == IRRUN_BOOLEAN);
    assert_true(dtype_parse("undefined", &dtype) && dtype == IRRUN_DYNAMIC);
}

static void refuses_other_names(void **state)
{
    (void)state;
    static const char *const names[] = {"", "f", "f3", "f320", " f32", "FP33", "float", "int64"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        enum irrun_dtype dtype = IRRUN_N_DTYPES;
        assert_false(dtype_parse(names[i], &dtype));
        assert_int_equal(dtype, IRRUN_N_DTYPES);
    }
}

static void kinds_agree_with_the_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        enum irrun_dtype dtype = rows[i].dtype;
        bool is_half = strcmp(rows[i].name, "f16") == 0 || strcmp(rows[i].name, "bf16") == 0;
        bool is_float =
            is_half || strcmp(rows[i].name, "f32") == 0 || strcmp(rows[i].name, "f64") == 0;
        bool is_integer = rows[i].name[0] == 'i' || rows[i].name[0] == 'u';
        assert_int_equal(dtype_is_half(dtype), is_half);
        assert_int_equal(dtype_is_float(dtype), is_float);
        assert_int_equal(dtype_is_integer(dtype), is_integer);
        assert_int_equal(dtype_is_signed(dtype), rows[i].name[0] == 'i');
    }
}

static void sets_of_types_agree_with_the_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        enum irrun_dtype dtype = rows[i].dtype;
        unsigned bit = TYPE_BIT(dtype);
        bool is_whole = rows[i].stored_bits >= 8;
        assert_int_equal((TYPES_HALF & bit) != 0, dtype_is_half(dtype));
        assert_int_equal((TYPES_FLOAT & bit) != 0, dtype_is_float(dtype));
        assert_int_equal((TYPES_INTEGER & bit) != 0, dtype_is_integer(dtype) && is_whole);
        assert_int_equal((TYPES_SIGNED & bit) != 0, dtype_is_signed(dtype) && is_whole);
        assert_int_equal((TYPES_ANY & bit) != 0, dtype_size(dtype) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_names_and_sizes),
        cmocka_unit_test(reads_both_spellings_in_any_case),
        cmocka_unit_test(refuses_other_names),
        cmocka_unit_test(kinds_agree_with_the_names),
        cmocka_unit_test(sets_of_types_agree_with_the_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
