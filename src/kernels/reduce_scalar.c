/* Plain loops of the reductions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/reduce.h"

#include <math.h>

#define LANES 4 /* partial results of a run, so that an addition need not wait for the one before */

/* y is the accumulator, x the element, both in A; T is the element's type and `field` A's in the
 * union. */
#define LOOP(name, T, A, field, expression)                                                        \
    static A fold_##name(A y, A x)                                                                 \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
                                                                                                   \
    static void name(union accumulator *accumulators, bool into_one, const void *in, size_t n)     \
    {                                                                                              \
        const T *from = in;                                                                        \
        for (size_t i = 0; !into_one && i < n; i++)                                                \
            accumulators[i].field = fold_##name(accumulators[i].field, (A)from[i]);                \
        A y = accumulators[0].field;                                                               \
        for (size_t i = 0; into_one && i < n; i++)                                                 \
            y = fold_##name(y, (A)from[i]);                                                        \
        if (into_one)                                                                              \
            accumulators[0].field = y;                                                             \
    }

/* Sums of a run in LANES parts, then those. */
#define SUM_LOOP(name, T, A, field, term)                                                          \
    static void name(union accumulator *accumulators, bool into_one, const void *in, size_t n)     \
    {                                                                                              \
        const T *from = in;                                                                        \
        if (!into_one) {                                                                           \
            for (size_t i = 0; i < n; i++) {                                                       \
                A x = (A)from[i];                                                                  \
                accumulators[i].field += term;                                                     \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        A lanes[LANES] = {0};                                                                      \
        for (size_t i = 0; i < n; i += LANES) {                                                    \
            for (size_t l = 0; l < LANES && l < n - i; l++) {                                      \
                A x = (A)from[i + l];                                                              \
                lanes[l] += term;                                                                  \
            }                                                                                      \
        }                                                                                          \
        accumulators[0].field += (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);                    \
    }

#define FLOAT_LOOPS(T, suffix)                                                                     \
    SUM_LOOP(sum_##suffix, T, double, f64, x)                                                      \
    SUM_LOOP(magnitudes_##suffix, T, double, f64, fabs(x))                                         \
    SUM_LOOP(squares_##suffix, T, double, f64, (x * x))                                            \
    LOOP(prod_##suffix, T, double, f64, (y * x))                                                   \
    LOOP(max_##suffix, T, double, f64, (y < x) ? x : y)                                            \
    LOOP(min_##suffix, T, double, f64, (x < y) ? x : y)

FLOAT_LOOPS(float, f32)
FLOAT_LOOPS(double, f64)

/* Sums and products of signed numbers are made of their bits: those wrap. */
SUM_LOOP(sum_u64, uint64_t, uint64_t, u64, x)
SUM_LOOP(squares_u64, uint64_t, uint64_t, u64, (x * x))
SUM_LOOP(magnitudes_i64, int64_t, uint64_t, u64, ((x >> 63) ? 0 - x : x))
LOOP(prod_u64, uint64_t, uint64_t, u64, (y * x))
LOOP(max_u64, uint64_t, uint64_t, u64, (y < x) ? x : y)
LOOP(min_u64, uint64_t, uint64_t, u64, (x < y) ? x : y)
LOOP(max_i64, int64_t, int64_t, i64, (y < x) ? x : y)
LOOP(min_i64, int64_t, int64_t, i64, (x < y) ? x : y)
LOOP(and_u64, uint64_t, uint64_t, u64, (y & x))
LOOP(or_u64, uint64_t, uint64_t, u64, (y | x))

#define ROW(name, signed_, unsigned_)                                                              \
    {                                                                                              \
        [IRRUN_F32] = name##_f32, [IRRUN_F64] = name##_f64, [IRRUN_I64] = signed_,                 \
        [IRRUN_U64] = unsigned_,                                                                   \
    }

static reduce_fn *const loops[REDUCE_N_OPERATIONS][IRRUN_N_DTYPES] = {
    [REDUCE_SUM] = ROW(sum, sum_u64, sum_u64),
    [REDUCE_PROD] = ROW(prod, prod_u64, prod_u64),
    [REDUCE_MAX] = ROW(max, max_i64, max_u64),
    [REDUCE_MIN] = ROW(min, min_i64, min_u64),
    [REDUCE_SUM_OF_MAGNITUDES] = ROW(magnitudes, magnitudes_i64, sum_u64),
    [REDUCE_SUM_OF_SQUARES] = ROW(squares, squares_u64, squares_u64),
    [REDUCE_AND] = {[IRRUN_U64] = and_u64},
    [REDUCE_OR] = {[IRRUN_U64] = or_u64},
};

reduce_fn *reduce_scalar(enum reduce_operation operation, enum irrun_dtype dtype)
{
    return loops[operation][dtype];
}

union accumulator reduce_start(enum reduce_operation operation, enum irrun_dtype dtype)
{
    bool is_float = dtype == IRRUN_F32 || dtype == IRRUN_F64, is_signed = dtype == IRRUN_I64;
    union accumulator start = {.u64 = 0};
    if (operation == REDUCE_MAX && is_float)
        start.f64 = -INFINITY;
    else if (operation == REDUCE_MAX && is_signed)
        start.i64 = INT64_MIN;
    else if (operation == REDUCE_MIN && is_float)
        start.f64 = INFINITY;
    else if (operation == REDUCE_MIN && is_signed)
        start.i64 = INT64_MAX;
    else if (operation == REDUCE_MIN)
        start.u64 = UINT64_MAX;
    else if (operation == REDUCE_PROD && is_float)
        start.f64 = 1;
    else if (operation == REDUCE_PROD || operation == REDUCE_AND)
        start.u64 = 1;
    return start;
}
