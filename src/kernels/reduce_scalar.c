/* Plain loops of the reductions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/reduce.h"

#include <math.h>

#include "kernels/inline.h"
#include "kernels/type_rows.h"

#define LANES 4 /* partial results of a run, so that an addition need not wait for the one before */

#define BODY "kernels/reduce_body.h"

#define FIELD f64
#define MAGNITUDE(x) fabs(x)
#define ORDER double
#include "kernels/each_float.h"
#undef FIELD
#undef MAGNITUDE
#undef ORDER

/* Signed sums and products are computed in unsigned types, which wrap. */
#define FIELD u64
#define WIDE uint64_t
#define T int64_t
#define NAME(name) name##_i64
#define MAGNITUDE(x) ((x) >> 63 ? 0 - (x) : (x))
#define ORDER int64_t
#include "kernels/type_body.h"
#undef MAGNITUDE
#undef ORDER
#define T uint64_t
#define NAME(name) name##_u64
#define MAGNITUDE(x) (x)
#define ORDER uint64_t
#include "kernels/type_body.h"

#define ROW(name)                                                                                  \
    {                                                                                              \
        FLOAT_ROWS(name), [IRRUN_I64] = name##_i64, [IRRUN_U64] = name##_u64                       \
    }

static reduce_fn *const loops[REDUCE_N_OPERATIONS][IRRUN_N_DTYPES] = {
    [REDUCE_SUM] = ROW(sum),
    [REDUCE_PROD] = ROW(prod),
    [REDUCE_MAX] = ROW(max),
    [REDUCE_MIN] = ROW(min),
    [REDUCE_SUM_OF_MAGNITUDES] = ROW(magnitudes),
    [REDUCE_SUM_OF_SQUARES] = ROW(squares),
    [REDUCE_AND] = {[IRRUN_U64] = min_u64},
    [REDUCE_OR] = {[IRRUN_U64] = max_u64},
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
