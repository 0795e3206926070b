/* Plain loops of the arithmetic of two operands, and the table of all binary loops. They are the
 * specification: integers wrap because they are computed as unsigned ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "kernels/binary.h"
#include "kernels/binary_bitwise.h"
#include "kernels/binary_compare.h"

/* x and y are the elements, in their own type T; W is a type that computes without undefined
 * overflow. */
#define LOOP(name, T, expression)                                                                  \
    static bool name(const void *a, const void *b, void *out, size_t n)                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x = ((const T *)a)[i], y = ((const T *)b)[i];                                        \
            ((T *)out)[i] = (T)(expression);                                                       \
        }                                                                                          \
        return true;                                                                               \
    }

#define FLOAT_LOOPS(T, suffix, f)                                                                  \
    LOOP(add_##suffix, T, x + y)                                                                   \
    LOOP(subtract_##suffix, T, x - y)                                                              \
    LOOP(multiply_##suffix, T, x *y)                                                               \
    LOOP(divide_##suffix, T, x / y)                                                                \
    LOOP(maximum_##suffix, T, x < y ? y : x)                                                       \
    LOOP(minimum_##suffix, T, y < x ? y : x)                                                       \
    LOOP(power_##suffix, T, y == 2 ? x * x : pow##f(x, y))                                         \
    LOOP(squared_difference_##suffix, T, (x - y) * (x - y))                                        \
    LOOP(mod_##suffix, T, fmod##f(x, y))                                                           \
    LOOP(prelu_##suffix, T, x < 0 ? x * y : x)                                                     \
    static T floor_mod_of_##suffix(T x, T y)                                                       \
    {                                                                                              \
        T rest = fmod##f(x, y);                                                                    \
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;                               \
    }                                                                                              \
    LOOP(floor_mod_##suffix, T, floor_mod_of_##suffix(x, y))

FLOAT_LOOPS(float, f32, f)
FLOAT_LOOPS(double, f64, )

/* Signed types share these: the bits are the same. */
#define WRAPPING_LOOPS(T, W, suffix)                                                               \
    LOOP(add_##suffix, T, (W)x + (W)y)                                                             \
    LOOP(subtract_##suffix, T, (W)x - (W)y)                                                        \
    LOOP(multiply_##suffix, T, (W)x *(W)y)                                                         \
    LOOP(squared_difference_##suffix, T, ((W)x - (W)y) * ((W)x - (W)y))                            \
    static T power_of_##suffix(T x, T y)                                                           \
    {                                                                                              \
        W result = 1;                                                                              \
        for (W base = x; y > 0; y = (T)(y >> 1), base *= base)                                     \
            result *= y & 1 ? base : 1;                                                            \
        return (T)result;                                                                          \
    }

WRAPPING_LOOPS(uint8_t, uint32_t, u8)
WRAPPING_LOOPS(uint16_t, uint32_t, u16)
WRAPPING_LOOPS(uint32_t, uint32_t, u32)
WRAPPING_LOOPS(uint64_t, uint64_t, u64)

#define DIVIDING_LOOP(name, T, is_error, expression)                                               \
    static bool name(const void *a, const void *b, void *out, size_t n)                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x = ((const T *)a)[i], y = ((const T *)b)[i];                                        \
            if (is_error)                                                                          \
                return false;                                                                      \
            ((T *)out)[i] = (T)(expression);                                                       \
        }                                                                                          \
        return true;                                                                               \
    }

#define UNSIGNED_LOOPS(T, suffix)                                                                  \
    LOOP(maximum_##suffix, T, x < y ? y : x)                                                       \
    LOOP(minimum_##suffix, T, y < x ? y : x)                                                       \
    LOOP(power_##suffix, T, power_of_##suffix(x, y))                                               \
    DIVIDING_LOOP(divide_##suffix, T, y == 0, x / y)                                               \
    DIVIDING_LOOP(mod_##suffix, T, y == 0, x % y)

UNSIGNED_LOOPS(uint8_t, u8)
UNSIGNED_LOOPS(uint16_t, u16)
UNSIGNED_LOOPS(uint32_t, u32)
UNSIGNED_LOOPS(uint64_t, u64)

/* U is the unsigned type of the same width, unsigned_suffix its name. x / -1 is written as a
 * negation, which wraps for the lowest number, where a division would trap. */
#define SIGNED_LOOPS(T, U, suffix, unsigned_suffix)                                                \
    LOOP(maximum_##suffix, T, x < y ? y : x)                                                       \
    LOOP(minimum_##suffix, T, y < x ? y : x)                                                       \
    LOOP(prelu_##suffix, T, x < 0 ? (T)((uint64_t)x * (uint64_t)y) : x)                            \
    static T quotient_##suffix(T x, T y)                                                           \
    {                                                                                              \
        return (T)(y == -1 ? (T)(U)(0 - (uint64_t)x) : x / y);                                     \
    }                                                                                              \
    static T rest_##suffix(T x, T y)                                                               \
    {                                                                                              \
        return (T)(y == -1 ? 0 : x % y);                                                           \
    }                                                                                              \
    static bool rounds_down_##suffix(T x, T y)                                                     \
    {                                                                                              \
        return rest_##suffix(x, y) != 0 && (x < 0) != (y < 0);                                     \
    }                                                                                              \
    static T signed_power_##suffix(T x, T y)                                                       \
    {                                                                                              \
        if (y >= 0)                                                                                \
            return (T)power_of_##unsigned_suffix((U)x, (U)y);                                      \
        return x == 1 ? 1 : x == -1 ? (T)(y % 2 ? -1 : 1) : 0;                                     \
    }                                                                                              \
    DIVIDING_LOOP(power_##suffix, T, x == 0 && y < 0, signed_power_##suffix(x, y))                 \
    DIVIDING_LOOP(divide_trunc_##suffix, T, y == 0, quotient_##suffix(x, y))                       \
    DIVIDING_LOOP(divide_##suffix, T, y == 0,                                                      \
                  quotient_##suffix(x, y) - rounds_down_##suffix(x, y))                            \
    DIVIDING_LOOP(mod_##suffix, T, y == 0, rest_##suffix(x, y))                                    \
    DIVIDING_LOOP(floor_mod_##suffix, T, y == 0,                                                   \
                  rest_##suffix(x, y) + (rounds_down_##suffix(x, y) ? y : 0))

SIGNED_LOOPS(int8_t, uint8_t, i8, u8)
SIGNED_LOOPS(int16_t, uint16_t, i16, u16)
SIGNED_LOOPS(int32_t, uint32_t, i32, u32)
SIGNED_LOOPS(int64_t, uint64_t, i64, u64)

#define ROW_WRAPPING(name)                                                                         \
    {                                                                                              \
        [IRRUN_F32] = name##_f32, [IRRUN_F64] = name##_f64, [IRRUN_I8] = name##_u8,                \
        [IRRUN_I16] = name##_u16, [IRRUN_I32] = name##_u32, [IRRUN_I64] = name##_u64,              \
        [IRRUN_U8] = name##_u8, [IRRUN_U16] = name##_u16, [IRRUN_U32] = name##_u32,                \
        [IRRUN_U64] = name##_u64,                                                                  \
    }
/* floating, signed and unsigned types each have a loop of the name given. */
#define ROW(floating, signed_, unsigned_)                                                          \
    {                                                                                              \
        [IRRUN_F32] = floating##_f32, [IRRUN_F64] = floating##_f64, [IRRUN_I8] = signed_##_i8,     \
        [IRRUN_I16] = signed_##_i16, [IRRUN_I32] = signed_##_i32, [IRRUN_I64] = signed_##_i64,     \
        [IRRUN_U8] = unsigned_##_u8, [IRRUN_U16] = unsigned_##_u16, [IRRUN_U32] = unsigned_##_u32, \
        [IRRUN_U64] = unsigned_##_u64,                                                             \
    }

static binary_fn *const arithmetic[BINARY_PRELU + 1][IRRUN_N_DTYPES] = {
    [BINARY_ADD] = ROW_WRAPPING(add),
    [BINARY_SUBTRACT] = ROW_WRAPPING(subtract),
    [BINARY_MULTIPLY] = ROW_WRAPPING(multiply),
    [BINARY_DIVIDE] = ROW(divide, divide, divide),
    [BINARY_DIVIDE_TRUNC] = ROW(divide, divide_trunc, divide),
    [BINARY_MAXIMUM] = ROW(maximum, maximum, maximum),
    [BINARY_MINIMUM] = ROW(minimum, minimum, minimum),
    [BINARY_POWER] = ROW(power, power, power),
    [BINARY_SQUARED_DIFFERENCE] = ROW_WRAPPING(squared_difference),
    [BINARY_FLOOR_MOD] = ROW(floor_mod, floor_mod, mod),
    [BINARY_MOD] = ROW(mod, mod, mod),
    [BINARY_PRELU] = {[IRRUN_F32] = prelu_f32,
                      [IRRUN_F64] = prelu_f64,
                      [IRRUN_I8] = prelu_i8,
                      [IRRUN_I16] = prelu_i16,
                      [IRRUN_I32] = prelu_i32,
                      [IRRUN_I64] = prelu_i64},
};

binary_fn *binary_scalar(enum binary_operation operation, enum irrun_dtype dtype)
{
    if (operation >= BINARY_EQUAL)
        return binary_compare_scalar(operation, dtype);
    if (operation >= BINARY_BIT_AND)
        return binary_bitwise_scalar(operation, dtype);
    return arithmetic[operation][dtype];
}
