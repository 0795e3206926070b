/* Reductions of f32 and f64, compiled for each CPU level. All levels compute in double and in the
 * same order, so that they give the same bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"
#include "kernels/reduce.h"

/* A row is reduced in groups of 8 elements, four groups at a time, regardless of the vector length
 * of the level. The remaining elements follow. */
#define GROUP 8
#define N_GROUPS 4
#define N_PARTS (N_GROUPS * GROUP / VECTOR_F64_LANES)
#define ROWS_AT_ONCE 8 /* if to_columns: rows that are reduced in one pass over the accumulators */

ALWAYS_INLINE double f64_min(double a, double b)
{
    return a < b ? a : b;
}
ALWAYS_INLINE double f64_max(double a, double b)
{
    return a > b ? a : b;
}

/* Folds x into the accumulator y. V is double or a vector of double. All callers pass a constant
 * operation, so the compiler drops the switch. */
#define FOLD(name, V, abs, min, max)                                                               \
    ALWAYS_INLINE V name(enum reduce_operation operation, V y, V x, V center)                      \
    {                                                                                              \
        switch (operation) {                                                                       \
        case REDUCE_PROD:                                                                          \
            return y * x;                                                                          \
        case REDUCE_MAX:                                                                           \
            return max(x, y);                                                                      \
        case REDUCE_MIN:                                                                           \
            return min(x, y);                                                                      \
        case REDUCE_SUM_OF_MAGNITUDES:                                                             \
            return y + abs(x);                                                                     \
        case REDUCE_SUM_OF_SQUARES:                                                                \
            return y + x * x;                                                                      \
        case REDUCE_SUM_OF_SQUARED_DEVIATIONS:                                                     \
            return y + (x - center) * (x - center);                                                \
        default:                                                                                   \
            return y + x;                                                                          \
        }                                                                                          \
    }
FOLD(fold, double, fabs, f64_min, f64_max)
FOLD(fold_vector, vec_f64, vec_f64_abs, vec_f64_min, vec_f64_max)
#undef FOLD

/* Returns the operation that combines the results for two parts of a row. */
ALWAYS_INLINE enum reduce_operation joining_operation(enum reduce_operation operation)
{
    return operation <= REDUCE_SUM_OF_SQUARED_DEVIATIONS ? REDUCE_SUM : operation;
}

#define T float
#define NAME(name) name##_f32
#define LOAD vec_f64_load_f32
#include "kernels/reduce_level_body.h"

#define T double
#define NAME(name) name##_f64
#define LOAD vec_f64_load
#include "kernels/reduce_level_body.h"

#define LOOPS(type)                                                                                \
    .type = {                                                                                      \
        [REDUCE_SUM] = sum_##type,                                                                 \
        [REDUCE_SUM_OF_MAGNITUDES] = magnitudes_##type,                                            \
        [REDUCE_SUM_OF_SQUARES] = squares_##type,                                                  \
        [REDUCE_SUM_OF_SQUARED_DEVIATIONS] = deviations_##type,                                    \
        [REDUCE_PROD] = prod_##type,                                                               \
        [REDUCE_MAX] = max_##type,                                                                 \
        [REDUCE_MIN] = min_##type,                                                                 \
    }

const struct reduce_kernels LEVEL_NAME(reduce, LEVEL) = {LOOPS(f32), LOOPS(f64)};
