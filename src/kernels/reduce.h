/* Reductions of the rows or columns of a matrix.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_REDUCE_H
#define IRRUN_KERNELS_REDUCE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "irrun.h"

enum reduce_operation {
    REDUCE_SUM,
    REDUCE_SUM_OF_MAGNITUDES,
    REDUCE_SUM_OF_SQUARES,
    REDUCE_SUM_OF_SQUARED_DEVIATIONS, /* the squares of differences from centers; floats only */
    REDUCE_PROD,
    REDUCE_MAX, /* NaN is skipped */
    REDUCE_MIN,
    REDUCE_N_FLOAT_OPERATIONS,
    REDUCE_AND = REDUCE_N_FLOAT_OPERATIONS, /* for booleans; any byte that is not zero is true */
    REDUCE_OR,
    REDUCE_N_OPERATIONS
};

/* f32 and f64 are accumulated in double, signed and unsigned integers in i64 and u64, where they
 * wrap, booleans as 0 or 1 in u64. */
union accumulator {
    double f64;
    int64_t i64;
    uint64_t u64;
};

/* n_rows rows of n elements, row_step elements apart. Row r is reduced into accumulators[r], or, if
 * to_columns, column i into accumulators[i]. centers: one for each accumulator. The order of the
 * additions depends only on n and to_columns. */
struct reduction {
    size_t n_rows, n, row_step;
    bool to_columns;
    const double *centers;
};
typedef void reduce_fn(const struct reduction *reduction, const void *in,
                       union accumulator *accumulators);

/* The loops of a SIMD level, for floats. */
struct reduce_kernels {
    reduce_fn *f32[REDUCE_N_FLOAT_OPERATIONS], *f64[REDUCE_N_FLOAT_OPERATIONS];
};

/* Returns the loop for elements of f32, f64, i64, u64 or, for AND and OR, boolean. Callers widen
 * other types first. */
reduce_fn *reduce_choose(const struct reduce_kernels *kernels, enum reduce_operation operation,
                         enum irrun_dtype dtype);

/* Returns the initial value of an accumulator. */
static inline double reduce_start_float(enum reduce_operation operation)
{
    return operation == REDUCE_MAX    ? -INFINITY
           : operation == REDUCE_MIN  ? INFINITY
           : operation == REDUCE_PROD ? 1
                                      : 0;
}
union accumulator reduce_start(enum reduce_operation operation, enum irrun_dtype dtype);

#endif
