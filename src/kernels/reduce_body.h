/* The loops of reduce.c for one integer type T of type_body.h. They compute in uint64_t and compare
 * in T. MAGNITUDE(x) is the absolute value of x.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MAGNITUDE
#error "define MAGNITUDE as well as BODY"
#endif

/* Combines x with the accumulator y. All callers pass a constant operation, so the compiler drops
 * the switch. */
ALWAYS_INLINE uint64_t NAME(fold)(enum reduce_operation operation, uint64_t y, uint64_t x)
{
    switch (operation) {
    case REDUCE_PROD:
        return y * x;
    case REDUCE_MAX:
        return (T)y < (T)x ? x : y;
    case REDUCE_MIN:
        return (T)x < (T)y ? x : y;
    case REDUCE_SUM_OF_MAGNITUDES:
        return y + MAGNITUDE(x);
    case REDUCE_SUM_OF_SQUARES:
        return y + x * x;
    default:
        return y + x;
    }
}

ALWAYS_INLINE void NAME(reduce)(enum reduce_operation operation, const struct reduction *r,
                                const uint64_t *x, union accumulator *to)
{
    for (size_t row = 0; row < r->n_rows; row++, x += r->row_step) {
        for (size_t i = 0; r->to_columns && i < r->n; i++)
            to[i].u64 = NAME(fold)(operation, to[i].u64, x[i]);
        if (r->to_columns)
            continue;
        uint64_t y = to[row].u64;
        for (size_t i = 0; i < r->n; i++)
            y = NAME(fold)(operation, y, x[i]);
        to[row].u64 = y;
    }
}

#define REDUCE(name, operation)                                                                    \
    static void NAME(name)(const struct reduction *r, const void *in, union accumulator *to)       \
    {                                                                                              \
        NAME(reduce)(operation, r, in, to);                                                        \
    }

REDUCE(sum, REDUCE_SUM)
REDUCE(prod, REDUCE_PROD)
REDUCE(max, REDUCE_MAX)
REDUCE(min, REDUCE_MIN)
REDUCE(magnitudes, REDUCE_SUM_OF_MAGNITUDES)
REDUCE(squares, REDUCE_SUM_OF_SQUARES)

#undef REDUCE
