/* The vector functions that are the same at all levels, implemented with the compiler's operators
 * on the types of a level: vec, vec_mask and bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#ifndef VECTOR_LANES
#error "include vector_<level>.h"
#endif

typedef int32_t vec_i32 __attribute__((vector_size(sizeof(vec))));
typedef uint32_t vec_u32 __attribute__((vector_size(sizeof(vec))));
typedef vec vec_anywhere __attribute__((aligned(1), may_alias)); /* memory of any type */

ALWAYS_INLINE vec vec_zero(void)
{
    return (vec){0};
}
ALWAYS_INLINE vec vec_load(const void *at)
{
    return *(const vec_anywhere *)at;
}
ALWAYS_INLINE void vec_store(void *at, vec x)
{
    *(vec_anywhere *)at = x;
}
#define OPERATOR(result, function, operand, operator)                                              \
    ALWAYS_INLINE result function(operand a, operand b)                                            \
    {                                                                                              \
        return (result)(a operator b);                                                             \
    }
OPERATOR(vec, vec_add, vec, +)
OPERATOR(vec, vec_sub, vec, -)
OPERATOR(vec, vec_mul, vec, *)
OPERATOR(vec, vec_div, vec, /)
OPERATOR(vec_mask, mask_and, vec_mask, &)
OPERATOR(vec_mask, mask_or, vec_mask, |)
OPERATOR(vec_mask, mask_xor, vec_mask, ^)
#if !VECTOR_HAS_FMA
/* vec_fma returns a * b + c, and vec_fnma c - a * b, with two roundings. */
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return a * b + c;
}
ALWAYS_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return c - a * b;
}
#endif
ALWAYS_INLINE vec vec_negative(vec x)
{
    return -x;
}

ALWAYS_INLINE vec_mask mask_not(vec_mask a)
{
    return (vec_mask)~a;
}

#ifndef VECTOR_HAS_MASK_REGISTERS /* a mask is a vector whose lanes are all ones or all zeros */
ALWAYS_INLINE vec_mask mask_set1(uint8_t byte)
{
    return (vec_mask)((vec_i32){0} - (byte != 0));
}
OPERATOR(vec_mask, vec_equal, vec, ==)
OPERATOR(vec_mask, vec_not_equal, vec, !=)
OPERATOR(vec_mask, vec_less, vec, <)
OPERATOR(vec_mask, vec_less_equal, vec, <=)
OPERATOR(vec_mask, vec_greater, vec, >)
OPERATOR(vec_mask, vec_greater_equal, vec, >=)
#endif
#undef OPERATOR

#ifndef VECTOR_HAS_MASKED_MEMORY
/* Load or store the first n lanes. A load sets the remaining lanes to 0. Their memory is not
 * accessed. */
ALWAYS_INLINE vec vec_load_first(const void *at, size_t n)
{
    vec x = {0};
    memcpy(&x, at, n * sizeof(float));
    return x;
}
ALWAYS_INLINE void vec_store_first(void *at, vec x, size_t n)
{
    memcpy(at, &x, n * sizeof(float));
}

/* Loads the lanes whose bits are set. Sets the remaining lanes to 0, and does not access their
 * memory. */
ALWAYS_INLINE vec vec_load_where(const void *at, unsigned set)
{
    if (set == (1U << VECTOR_LANES) - 1)
        return vec_load(at);
    vec x = {0};
    for (int lane = 0; lane < VECTOR_LANES; lane++)
        if (set >> lane & 1)
            memcpy((float *)&x + lane, (const float *)at + lane, sizeof(float));
    return x;
}

/* Returns x in the lanes whose bits are set, and 0 in the remaining lanes. */
ALWAYS_INLINE vec vec_where(vec x, unsigned set)
{
    const vec_i32 lanes = {1, 2, 4, 8};
    return (vec)((vec_i32)x & ((((vec_i32){0} + (int)set) & lanes) != 0));
}

/* Booleans are bytes. Any byte that is not zero is true, and true is written as 1. */
ALWAYS_INLINE vec_mask mask_load_first(const void *at, size_t n);
ALWAYS_INLINE void mask_store_first(void *at, vec_mask mask, size_t n);

ALWAYS_INLINE vec_mask mask_load(const void *at)
{
    return mask_load_first(at, VECTOR_LANES);
}
ALWAYS_INLINE void mask_store(void *at, vec_mask mask)
{
    mask_store_first(at, mask, VECTOR_LANES);
}
#endif

/* Vectors of f64, which have half as many lanes. */
#define VECTOR_F64_LANES (VECTOR_LANES / 2)
typedef double vec_f64 __attribute__((vector_size(sizeof(vec))));
typedef int64_t vec_f64_lanes __attribute__((vector_size(sizeof(vec))));
typedef float vec_half_width __attribute__((vector_size(sizeof(vec) / 2)));

ALWAYS_INLINE vec_f64 vec_f64_set1(double x)
{
    return x - (vec_f64){0};
}
ALWAYS_INLINE vec_f64 vec_f64_load(const double *at)
{
    vec_f64 x;
    memcpy(&x, at, sizeof x);
    return x;
}
ALWAYS_INLINE void vec_f64_store(double *at, vec_f64 x)
{
    memcpy(at, &x, sizeof x);
}
#ifndef VECTOR_HAS_LOAD_F64_OF_F32
ALWAYS_INLINE vec_f64 vec_f64_load_f32(const float *at)
{
    vec_half_width x;
    memcpy(&x, at, sizeof x);
    return __builtin_convertvector(x, vec_f64);
}
#endif
ALWAYS_INLINE void vec_f64_store_f32(float *at, vec_f64 x)
{
    vec_half_width narrow = __builtin_convertvector(x, vec_half_width);
    memcpy(at, &narrow, sizeof narrow);
}
ALWAYS_INLINE vec_f64 vec_f64_abs(vec_f64 x)
{
    return (vec_f64)((vec_f64_lanes)x & INT64_MAX);
}
#ifndef VECTOR_HAS_F64_MIN_MAX
/* Return b if either operand is NaN or both are zeros. */
ALWAYS_INLINE vec_f64 vec_f64_min(vec_f64 a, vec_f64 b)
{
    vec_f64_lanes is_less = (vec_f64_lanes)(a < b);
    return (vec_f64)(((vec_f64_lanes)a & is_less) | ((vec_f64_lanes)b & ~is_less));
}
ALWAYS_INLINE vec_f64 vec_f64_max(vec_f64 a, vec_f64 b)
{
    vec_f64_lanes is_greater = (vec_f64_lanes)(a > b);
    return (vec_f64)(((vec_f64_lanes)a & is_greater) | ((vec_f64_lanes)b & ~is_greater));
}
#endif

/* Load and store a vector of elements of any type. */
ALWAYS_INLINE bits bits_load(const void *at)
{
    bits x;
    memcpy(&x, at, sizeof x);
    return x;
}
ALWAYS_INLINE void bits_store(void *at, bits x)
{
    memcpy(at, &x, sizeof x);
}

#ifndef VECTOR_HAS_STREAM /* levels without non-temporal stores use ordinary stores */
ALWAYS_INLINE void bits_stream(void *at, bits x)
{
    bits_store(at, x);
}
ALWAYS_INLINE void bits_fence(void)
{
}
#endif
