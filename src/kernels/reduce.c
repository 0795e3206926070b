/* Reductions of integers and booleans, and reduce_choose, which selects the function for a type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/reduce.h"

#include "kernels/inline.h"

#define BODY "kernels/reduce_body.h"

/* Signed sums and products are computed in unsigned types, which wrap. */
#define T int64_t
#define NAME(name) name##_i64
#define MAGNITUDE(x) ((x) >> 63 ? 0 - (x) : (x))
#include "kernels/type_body.h"
#undef MAGNITUDE
#define T uint64_t
#define NAME(name) name##_u64
#define MAGNITUDE(x) (x)
#include "kernels/type_body.h"

ALWAYS_INLINE void reduce_booleans(bool is_or, const struct reduction *r, const unsigned char *x,
                                   union accumulator *to)
{
    for (size_t row = 0; row < r->n_rows; row++, x += r->row_step) {
        unsigned char is_found = 0; /* whether an element determines the result */
        for (size_t i = 0; r->to_columns && i < r->n; i++)
            to[i].u64 = is_or ? to[i].u64 | (x[i] != 0) : to[i].u64 & (x[i] != 0);
        for (size_t i = 0; !r->to_columns && i < r->n; i++)
            is_found |= is_or ? x[i] != 0 : x[i] == 0;
        if (is_found)
            to[row].u64 = is_or;
    }
}

static void and_booleans(const struct reduction *r, const void *in, union accumulator *to)
{
    reduce_booleans(false, r, in, to);
}

static void or_booleans(const struct reduction *r, const void *in, union accumulator *to)
{
    reduce_booleans(true, r, in, to);
}

#define ROW(name)                                                                                  \
    {                                                                                              \
        [IRRUN_I64] = name##_i64, [IRRUN_U64] = name##_u64                                         \
    }

static reduce_fn *const loops[REDUCE_N_OPERATIONS][IRRUN_N_DTYPES] = {
    [REDUCE_SUM] = ROW(sum),
    [REDUCE_PROD] = ROW(prod),
    [REDUCE_MAX] = ROW(max),
    [REDUCE_MIN] = ROW(min),
    [REDUCE_SUM_OF_MAGNITUDES] = ROW(magnitudes),
    [REDUCE_SUM_OF_SQUARES] = ROW(squares),
    [REDUCE_AND] = {[IRRUN_BOOLEAN] = and_booleans},
    [REDUCE_OR] = {[IRRUN_BOOLEAN] = or_booleans},
};

reduce_fn *reduce_choose(const struct reduce_kernels *kernels, enum reduce_operation operation,
                         enum irrun_dtype dtype)
{
    return dtype == IRRUN_F32   ? kernels->f32[operation]
           : dtype == IRRUN_F64 ? kernels->f64[operation]
                                : loops[operation][dtype];
}

union accumulator reduce_start(enum reduce_operation operation, enum irrun_dtype dtype)
{
    bool is_signed = dtype == IRRUN_I64;
    union accumulator start = {.u64 = 0};
    if (dtype == IRRUN_F32 || dtype == IRRUN_F64)
        start.f64 = reduce_start_float(operation);
    else if (operation == REDUCE_MAX && is_signed)
        start.i64 = INT64_MIN;
    else if (operation == REDUCE_MIN)
        start.u64 = is_signed ? INT64_MAX : UINT64_MAX;
    else if (operation == REDUCE_PROD || operation == REDUCE_AND)
        start.u64 = 1;
    return start;
}
