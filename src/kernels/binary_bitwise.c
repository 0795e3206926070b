/* Plain loops of the bitwise operations and the shifts. Bits have no sign, so a loop serves all
 * types of a width; only the shift to the right copies the sign.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/binary_bitwise.h"

#define LOOP(name, T, expression)                                                                  \
    static bool name(const void *a, const void *b, void *out, size_t n)                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x = ((const T *)a)[i], y = ((const T *)b)[i];                                        \
            ((T *)out)[i] = (T)(expression);                                                       \
        }                                                                                          \
        return true;                                                                               \
    }

/* A shift by the width or more, or by a negative number, which the specification leaves open, moves
 * all bits out. W is a type at least as wide as int, so that nothing is promoted to a signed
 * one. */
#define UNSIGNED_LOOPS(T, W, suffix, width)                                                        \
    LOOP(and_##suffix, T, x &y)                                                                    \
    LOOP(or_##suffix, T, x | y)                                                                    \
    LOOP(xor_##suffix, T, x ^ y)                                                                   \
    LOOP(left_##suffix, T, y < width ? (W)x << y : 0)                                              \
    LOOP(right_##suffix, T, y < width ? x >> y : 0)

/* A negative number is complemented, shifted and complemented again: zeros come in as ones. */
#define SIGNED_LOOPS(T, suffix, width)                                                             \
    static T right_of_##suffix(T x, T y)                                                           \
    {                                                                                              \
        bool is_inside = y >= 0 && y < width;                                                      \
        if (x >= 0)                                                                                \
            return (T)(is_inside ? x >> y : 0);                                                    \
        return (T)(is_inside ? ~(~x >> y) : -1);                                                   \
    }                                                                                              \
    LOOP(right_##suffix, T, right_of_##suffix(x, y))

UNSIGNED_LOOPS(uint8_t, uint32_t, u8, 8)
UNSIGNED_LOOPS(uint16_t, uint32_t, u16, 16)
UNSIGNED_LOOPS(uint32_t, uint32_t, u32, 32)
UNSIGNED_LOOPS(uint64_t, uint64_t, u64, 64)
SIGNED_LOOPS(int8_t, i8, 8)
SIGNED_LOOPS(int16_t, i16, 16)
SIGNED_LOOPS(int32_t, i32, 32)
SIGNED_LOOPS(int64_t, i64, 64)

LOOP(and_boolean, uint8_t, x &&y)
LOOP(or_boolean, uint8_t, x || y)
LOOP(xor_boolean, uint8_t, !x != !y)

#define ROW(unsigned_, signed_, sign)                                                              \
    [IRRUN_I8] = signed_##_##sign##8, [IRRUN_I16] = signed_##_##sign##16,                          \
    [IRRUN_I32] = signed_##_##sign##32, [IRRUN_I64] = signed_##_##sign##64,                        \
    [IRRUN_U8] = unsigned_##_u8, [IRRUN_U16] = unsigned_##_u16, [IRRUN_U32] = unsigned_##_u32,     \
    [IRRUN_U64] = unsigned_##_u64

binary_fn *binary_bitwise_scalar(enum binary_operation operation, enum irrun_dtype dtype)
{
    static binary_fn *const loops[][IRRUN_N_DTYPES] = {
        {ROW(and, and, u), [IRRUN_BOOLEAN] = and_boolean},
        {ROW(or, or, u), [IRRUN_BOOLEAN] = or_boolean},
        {ROW(xor, xor, u), [IRRUN_BOOLEAN] = xor_boolean},
        {ROW(left, left, u)},
        {ROW(right, right, i)},
    };
    return loops[operation - BINARY_BIT_AND][dtype];
}
