/* The loops of the reductions for one type of type_body.h. WIDE is the type of the accumulators and
 * FIELD its name in the union; MAGNITUDE(x) is that of x, a WIDE, and ORDER the type to compare in.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(FIELD) || !defined(MAGNITUDE) || !defined(ORDER)
#error "define FIELD, MAGNITUDE and ORDER as well as BODY"
#endif

/* All callers pass a constant operation. */
ALWAYS_INLINE WIDE NAME(fold)(enum reduce_operation operation, WIDE y, WIDE x)
{
    switch (operation) {
    case REDUCE_PROD:
        return y * x;
    case REDUCE_MAX:
        return (ORDER)y < (ORDER)x ? x : y;
    case REDUCE_MIN:
        return (ORDER)x < (ORDER)y ? x : y;
    case REDUCE_SUM_OF_MAGNITUDES:
        return y + MAGNITUDE(x);
    case REDUCE_SUM_OF_SQUARES:
        return y + x * x;
    default:
        return y + x;
    }
}

/* Sums a run in LANES parts, then adds the parts. */
ALWAYS_INLINE WIDE NAME(add_run)(enum reduce_operation operation, const T *from, size_t n)
{
    WIDE lanes[LANES] = {0};
    for (size_t i = 0; i < n; i += LANES)
        for (size_t l = 0; l < LANES && l < n - i; l++)
            lanes[l] = NAME(fold)(operation, lanes[l], (WIDE)from[i + l]);
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

ALWAYS_INLINE void NAME(reduce)(enum reduce_operation operation, union accumulator *accumulators,
                                bool into_one, const T *from, size_t n)
{
    if (!into_one) {
        for (size_t i = 0; i < n; i++)
            accumulators[i].FIELD = NAME(fold)(operation, accumulators[i].FIELD, (WIDE)from[i]);
    } else if (operation == REDUCE_PROD || operation == REDUCE_MAX || operation == REDUCE_MIN) {
        WIDE y = accumulators[0].FIELD;
        for (size_t i = 0; i < n; i++)
            y = NAME(fold)(operation, y, (WIDE)from[i]);
        accumulators[0].FIELD = y;
    } else {
        accumulators[0].FIELD += NAME(add_run)(operation, from, n);
    }
}

#define REDUCE(name, operation)                                                                    \
    static void NAME(name)(union accumulator * accumulators, bool into_one, const void *in,        \
                           size_t n)                                                               \
    {                                                                                              \
        NAME(reduce)(operation, accumulators, into_one, in, n);                                    \
    }

REDUCE(sum, REDUCE_SUM)
REDUCE(prod, REDUCE_PROD)
REDUCE(max, REDUCE_MAX)
REDUCE(min, REDUCE_MIN)
REDUCE(magnitudes, REDUCE_SUM_OF_MAGNITUDES)
REDUCE(squares, REDUCE_SUM_OF_SQUARES)

#undef REDUCE
