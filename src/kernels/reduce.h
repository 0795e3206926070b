/* Reductions of many elements to few.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_REDUCE_H
#define IRRUN_KERNELS_REDUCE_H

#include "irrun.h"

enum reduce_operation {
    REDUCE_SUM,
    REDUCE_PROD,
    REDUCE_MAX, /* skips NaN */
    REDUCE_MIN,
    REDUCE_SUM_OF_MAGNITUDES,
    REDUCE_SUM_OF_SQUARES,
    REDUCE_AND, /* of 0 and 1 */
    REDUCE_OR,
    REDUCE_N_OPERATIONS
};

/* An accumulator: f32 and f64 are gathered in double, integers in the 64-bit type of their sign,
 * where they wrap. */
union accumulator {
    double f64;
    int64_t i64;
    uint64_t u64;
};

/* Reduces in[0 … n-1] into accumulators[0] (into_one), or in[i] into accumulators[i]. */
typedef void reduce_fn(union accumulator *accumulators, bool into_one, const void *in, size_t n);

/* The loop for elements of f32, f64, i64 or u64; widen others first. */
reduce_fn *reduce_scalar(enum reduce_operation operation, enum irrun_dtype dtype);

/* The initial value of an accumulator. */
union accumulator reduce_start(enum reduce_operation operation, enum irrun_dtype dtype);

#endif
