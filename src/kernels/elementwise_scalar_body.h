/* The plain loops of elementwise.def for one type, T. Included once per type, with SUFFIX, the
 * suffix of function names, and with FLOATING defined for floats and LOGICAL for booleans.
 * SPDX-License-Identifier: Apache-2.0 */

#ifdef FLOATING
#define W T
#define IF_FLOAT(a, b) a
#define FLOATS(...) __VA_ARGS__
#define BITS(...)
#define NUMBERS(...) __VA_ARGS__
#define INTEGERS(...)
#else
#define W uint64_t
#define IF_FLOAT(a, b) b
#define FLOATS(...)
#define BITS(...) __VA_ARGS__
#ifdef LOGICAL
#define NUMBERS(...)
#define INTEGERS(...)
#else
#define NUMBERS(...) __VA_ARGS__
#define INTEGERS(...) __VA_ARGS__
#endif
#endif
#ifdef LOGICAL
#define ELEMENT(byte) ((byte) != 0)
#define ALL_BITS 1
#else
#define ELEMENT(element) (element)
#define ALL_BITS ((T)-1)
#endif

/* ---- the macros and functions that elementwise.def uses ---- */

/* Converts the remainder of a truncating division by y to that of a floor division, which has the
 * sign of y. */
ALWAYS_INLINE T TYPED(floor_mod)(T mod, T y)
{
    return mod != 0 && (mod < 0) != (y < 0) ? (T)(mod + y) : mod;
}

#ifndef FLOATING
/* Computes x / -1 as a negation, which wraps for the lowest number; a division would trap. */
ALWAYS_INLINE T TYPED(quotient)(T x, T y, bool *by_zero)
{
    *by_zero |= y == 0;
    return (T)(y == 0 ? 0 : IS_SIGNED && y == (T)-1 ? -(W)x : (W)(x / y));
}

ALWAYS_INLINE T TYPED(mod)(T x, T y, bool *by_zero)
{
    *by_zero |= y == 0;
    return (T)(y == 0 || (IS_SIGNED && y == (T)-1) ? 0 : x % y);
}

ALWAYS_INLINE T TYPED(floor_quotient)(T x, T y, bool *by_zero)
{
    T mod = TYPED(mod)(x, y, by_zero);
    return (T)(TYPED(quotient)(x, y, by_zero) - (mod != 0 && (mod < 0) != (y < 0)));
}

ALWAYS_INLINE T TYPED(power)(T x, T y, bool *by_zero)
{
    *by_zero |= x == 0 && y < 0;
    if (y < 0)
        return (T)(x == 1 ? 1 : x == (T)-1 ? (y % 2 ? (T)-1 : (T)1) : 0);
    W result = 1;
    for (W base = (W)x; y > 0; y = (T)(y >> 1), base *= base)
        result *= y & 1 ? base : 1;
    return (T)result;
}

/* Returns whether C defines a shift by y bits: 0 <= y < the width of T. */
ALWAYS_INLINE bool TYPED(is_shift)(T y)
{
    return y >= 0 && (W)y < 8 * sizeof(T);
}

/* Shifts arithmetically. In C, the right shift of a negative number is implementation-defined, so
 * the function shifts its complement, which is not negative, and complements the result. */
ALWAYS_INLINE T TYPED(shifted_right)(T x, T y)
{
    bool is_inside = TYPED(is_shift)(y);
    if (x >= 0)
        return (T)(is_inside ? x >> y : 0);
    return (T)(is_inside ? ~(~x >> y) : (T)-1);
}

/* Converts a bound of Clamp to T. A bound out of range becomes the lowest or highest number. NaN
 * becomes `none`, the number that does not restrict T, because a NaN bound does not restrict floats
 * either. */
ALWAYS_INLINE T TYPED(to_bound)(double bound, T none)
{
    const T lowest = LOWEST, highest = (T)~LOWEST;
    if (bound != bound)
        return none;
    return bound <= (double)lowest ? lowest : bound >= (double)highest ? highest : (T)bound;
}
#endif

/* ---- one operand ---- */

ALWAYS_INLINE void TYPED(run_unary_NUMBER)(const T *in, T *out, size_t n, const double *p,
                                           T (*f)(T x, T p0, T p1))
{
    T p0 = IF_FLOAT((T)p[0], TYPED(to_bound)(ceil(p[0]), LOWEST));
    T p1 = IF_FLOAT((T)p[1], TYPED(to_bound)(floor(p[1]), (T)~LOWEST));
    for (size_t i = 0; i < n; i++)
        out[i] = f(ELEMENT(in[i]), p0, p1);
}

#ifdef FLOATING
ALWAYS_INLINE void TYPED(run_unary_BOOLEAN)(const T *in, uint8_t *out, size_t n, const double *p,
                                            bool (*f)(T x, T p0, T p1))
{
    for (size_t i = 0; i < n; i++)
        out[i] = f(in[i], (T)p[0], (T)p[1]);
}
#endif

#define UNARY_FUNCTIONS(name, out, expression)                                                     \
    ALWAYS_INLINE OUT_##out TYPED(unary_of_##name)(T x, T p0, T p1)                                \
    {                                                                                              \
        (void)p0, (void)p1;                                                                        \
        return (OUT_##out)(expression);                                                            \
    }                                                                                              \
    static void TYPED(unary_##name)(const void *in, void *to, size_t n, const double *p)           \
    {                                                                                              \
        TYPED(run_unary_##out)(in, to, n, p, TYPED(unary_of_##name));                              \
    }
#define UNARY_LOOP(name, loops, out, expression) loops(UNARY_FUNCTIONS(name, out, expression))
#include "kernels/elementwise.def"

static unary_fn *const TYPED(unary)[UNARY_N_OPERATIONS] = {
#define UNARY_LOOP(name, loops, out, expression) loops([UNARY_##name] = TYPED(unary_##name), )
#include "kernels/elementwise.def"
};

/* ---- two operands ---- */

ALWAYS_INLINE bool TYPED(run_binary_NUMBER)(const T *a, const T *b, T *out, size_t n,
                                            T (*f)(T x, T y, bool *by_zero))
{
    bool by_zero = false;
    for (size_t i = 0; i < n; i++)
        out[i] = f(ELEMENT(a[i]), ELEMENT(b[i]), &by_zero);
    return !by_zero;
}

ALWAYS_INLINE bool TYPED(run_binary_BOOLEAN)(const T *a, const T *b, uint8_t *out, size_t n,
                                             bool (*f)(T x, T y, bool *by_zero))
{
    bool by_zero = false;
    for (size_t i = 0; i < n; i++)
        out[i] = f(ELEMENT(a[i]), ELEMENT(b[i]), &by_zero);
    return true;
}

#define BINARY_FUNCTIONS(name, out, expression)                                                    \
    ALWAYS_INLINE OUT_##out TYPED(binary_of_##name)(T x, T y, bool *by_zero)                       \
    {                                                                                              \
        (void)by_zero;                                                                             \
        return (OUT_##out)(expression);                                                            \
    }                                                                                              \
    static bool TYPED(binary_##name)(const void *a, const void *b, void *to, size_t n)             \
    {                                                                                              \
        return TYPED(run_binary_##out)(a, b, to, n, TYPED(binary_of_##name));                      \
    }
#define BINARY_LOOP(name, loops, out, expression) loops(BINARY_FUNCTIONS(name, out, expression))
#include "kernels/elementwise.def"

static binary_fn *const TYPED(binary)[BINARY_N_OPERATIONS] = {
#define BINARY_LOOP(name, loops, out, expression) loops([BINARY_##name] = TYPED(binary_##name), )
#include "kernels/elementwise.def"
};

#undef T
#undef SUFFIX
#undef FLOATING
#undef LOGICAL
#undef W
#undef IF_FLOAT
#undef FLOATS
#undef BITS
#undef NUMBERS
#undef INTEGERS
#undef ELEMENT
#undef ALL_BITS
