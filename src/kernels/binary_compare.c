/* Plain loops of the comparisons and of logic. A comparison with NaN is false, NotEqual true.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/binary_compare.h"

#define LOOP(name, T, expression)                                                                  \
    static bool name(const void *a, const void *b, void *out, size_t n)                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x = ((const T *)a)[i], y = ((const T *)b)[i];                                        \
            ((uint8_t *)out)[i] = (uint8_t)(expression);                                           \
        }                                                                                          \
        return true;                                                                               \
    }

#define EQUALITY_LOOPS(T, suffix)                                                                  \
    LOOP(equal_##suffix, T, x == y)                                                                \
    LOOP(not_equal_##suffix, T, x != y)
#define ORDER_LOOPS(T, suffix)                                                                     \
    LOOP(less_##suffix, T, x < y)                                                                  \
    LOOP(less_equal_##suffix, T, x <= y)                                                           \
    LOOP(greater_##suffix, T, x > y)                                                               \
    LOOP(greater_equal_##suffix, T, x >= y)

EQUALITY_LOOPS(float, f32)
EQUALITY_LOOPS(double, f64)
EQUALITY_LOOPS(uint8_t, u8)
EQUALITY_LOOPS(uint16_t, u16)
EQUALITY_LOOPS(uint32_t, u32)
EQUALITY_LOOPS(uint64_t, u64)

ORDER_LOOPS(float, f32)
ORDER_LOOPS(double, f64)
ORDER_LOOPS(int8_t, i8)
ORDER_LOOPS(int16_t, i16)
ORDER_LOOPS(int32_t, i32)
ORDER_LOOPS(int64_t, i64)
ORDER_LOOPS(uint8_t, u8)
ORDER_LOOPS(uint16_t, u16)
ORDER_LOOPS(uint32_t, u32)
ORDER_LOOPS(uint64_t, u64)

LOOP(equal_boolean, uint8_t, !x == !y)
LOOP(not_equal_boolean, uint8_t, !x != !y)
LOOP(less_boolean, uint8_t, !x && y)
LOOP(less_equal_boolean, uint8_t, !x || y)
LOOP(greater_boolean, uint8_t, x && !y)
LOOP(greater_equal_boolean, uint8_t, x || !y)
LOOP(and_boolean, uint8_t, x &&y)
LOOP(or_boolean, uint8_t, x || y)

#define ROW(name, signed_8, signed_16, signed_32, signed_64)                                       \
    {                                                                                              \
        [IRRUN_BOOLEAN] = name##_boolean, [IRRUN_F32] = name##_f32, [IRRUN_F64] = name##_f64,      \
        [IRRUN_I8] = name##_##signed_8, [IRRUN_I16] = name##_##signed_16,                          \
        [IRRUN_I32] = name##_##signed_32, [IRRUN_I64] = name##_##signed_64,                        \
        [IRRUN_U8] = name##_u8, [IRRUN_U16] = name##_u16, [IRRUN_U32] = name##_u32,                \
        [IRRUN_U64] = name##_u64,                                                                  \
    }
#define ROW_EQUALITY(name) ROW(name, u8, u16, u32, u64)
#define ROW_ORDER(name) ROW(name, i8, i16, i32, i64)

static binary_fn *const loops[BINARY_N_OPERATIONS][IRRUN_N_DTYPES] = {
    [BINARY_EQUAL] = ROW_EQUALITY(equal),
    [BINARY_NOT_EQUAL] = ROW_EQUALITY(not_equal),
    [BINARY_LESS] = ROW_ORDER(less),
    [BINARY_LESS_EQUAL] = ROW_ORDER(less_equal),
    [BINARY_GREATER] = ROW_ORDER(greater),
    [BINARY_GREATER_EQUAL] = ROW_ORDER(greater_equal),
    [BINARY_AND] = {[IRRUN_BOOLEAN] = and_boolean},
    [BINARY_OR] = {[IRRUN_BOOLEAN] = or_boolean},
    [BINARY_XOR] = {[IRRUN_BOOLEAN] = not_equal_boolean},
};

binary_fn *binary_compare_scalar(enum binary_operation operation, enum irrun_dtype dtype)
{
    return loops[operation][dtype];
}
