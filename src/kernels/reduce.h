/* Reductions (sum, product, maximum ...) along the rows or columns of a matrix.
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
    REDUCE_SUM_OF_SQUARED_DEVIATIONS, /* sum of (x - center)^2; floats only */
    REDUCE_PROD,
    REDUCE_MAX, /* NaN is skipped */
    REDUCE_MIN,
    REDUCE_N_FLOAT_OPERATIONS,
    /* For booleans, as is OR; any nonzero byte is true. */
    REDUCE_AND = REDUCE_N_FLOAT_OPERATIONS,
    REDUCE_OR,
    REDUCE_N_OPERATIONS
};

/* f32 and f64 are accumulated in double; signed and unsigned integers in i64 and u64, which wrap;
 * booleans as 0 or 1 in u64. */
union accumulator {
    double f64;
    int64_t i64;
    uint64_t u64;
};

/* Reduces a matrix of n_rows rows of n elements, row_step elements apart: row r into
 * accumulators[r] or, if to_columns, column i into accumulators[i]. `centers` holds one center per
 * accumulator. The order of additions depends only on n and to_columns. */
struct reduction {
    size_t n_rows, n, row_step;
    bool to_columns;
    const double *centers;
};
typedef void reduce_fn(const struct reduction *reduction, const void *in,
                       union accumulator *accumulators);

/* The loops of a SIMD level for f32 and f64. */
struct reduce_kernels {
    reduce_fn *f32[REDUCE_N_FLOAT_OPERATIONS], *f64[REDUCE_N_FLOAT_OPERATIONS];
};

/* Returns the loop for elements of f32, f64, i64 or u64, or of boolean for AND and OR. Callers
 * convert elements of smaller types first. */
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
