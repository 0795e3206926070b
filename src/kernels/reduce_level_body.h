/* The loops of reduce_level.c for one type, T. LOAD loads elements of T as a vector of double.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(T) || !defined(NAME) || !defined(LOAD)
#error "define T, NAME and LOAD"
#endif

/* Reduces the whole groups of a row. */
ALWAYS_INLINE double NAME(reduce_groups)(enum reduce_operation operation, const T *x,
                                         size_t n_groups, double center, double start)
{
    vec_f64 parts[N_PARTS];
    double lanes[VECTOR_F64_LANES];
    size_t group = 0;
    UNROLL
    for (size_t p = 0; p < N_PARTS; p++)
        parts[p] = vec_f64_set1(start);
    for (; group + N_GROUPS <= n_groups; group += N_GROUPS, x += N_GROUPS * GROUP) {
        UNROLL
        for (size_t p = 0; p < N_PARTS; p++)
            parts[p] = fold_vector(operation, parts[p], LOAD(x + p * VECTOR_F64_LANES),
                                   vec_f64_set1(center));
    }
    UNROLL
    for (size_t p = 0; p < N_PARTS; p++)
        if (p / (N_PARTS / N_GROUPS) < n_groups - group)
            parts[p] = fold_vector(operation, parts[p], LOAD(x + p * VECTOR_F64_LANES),
                                   vec_f64_set1(center));
    UNROLL
    for (size_t n = N_PARTS / 2; n > 0; n /= 2) {
        UNROLL
        for (size_t p = 0; p < n; p++)
            parts[p] =
                fold_vector(joining_operation(operation), parts[p], parts[p + n], vec_f64_set1(0));
    }
    vec_f64_store(lanes, parts[0]);
    for (size_t n = VECTOR_F64_LANES / 2; n > 0; n /= 2)
        for (size_t l = 0; l < n; l++)
            lanes[l] = fold(joining_operation(operation), lanes[l], lanes[l + n], 0);
    return lanes[0];
}

ALWAYS_INLINE void NAME(reduce_rows)(enum reduce_operation operation, const struct reduction *r,
                                     const T *x, union accumulator *to)
{
    enum reduce_operation join = joining_operation(operation);
    double start = reduce_start_float(operation);
    size_t n_groups = r->n / GROUP;
    for (size_t row = 0; row < r->n_rows; row++, x += r->row_step) {
        double center = operation == REDUCE_SUM_OF_SQUARED_DEVIATIONS ? r->centers[row] : 0,
               rest = start;
        for (size_t i = n_groups * GROUP; i < r->n; i++)
            rest = fold(operation, rest, (double)x[i], center);
        if (n_groups > 0)
            rest = fold(join, NAME(reduce_groups)(operation, x, n_groups, center, start), rest, 0);
        to[row].f64 = fold(join, to[row].f64, rest, 0);
    }
}

/* Reduces n_rows rows to columns, in one pass over the accumulators. */
ALWAYS_INLINE void NAME(fold_rows)(enum reduce_operation operation, const struct reduction *r,
                                   const T *x, size_t n_rows, double *to)
{
    bool has_center = operation == REDUCE_SUM_OF_SQUARED_DEVIATIONS;
    size_t i = 0;
    for (; i + VECTOR_F64_LANES <= r->n; i += VECTOR_F64_LANES) {
        vec_f64 y = vec_f64_load(to + i);
        vec_f64 center = has_center ? vec_f64_load(r->centers + i) : (vec_f64){0};
        for (size_t row = 0; row < n_rows; row++)
            y = fold_vector(operation, y, LOAD(x + row * r->row_step + i), center);
        vec_f64_store(to + i, y);
    }
    for (; i < r->n; i++)
        for (size_t row = 0; row < n_rows; row++)
            to[i] = fold(operation, to[i], (double)x[row * r->row_step + i],
                         has_center ? r->centers[i] : 0);
}

ALWAYS_INLINE void NAME(reduce)(enum reduce_operation operation, const struct reduction *r,
                                const T *x, union accumulator *to)
{
    size_t row = 0;
    if (!r->to_columns) {
        NAME(reduce_rows)(operation, r, x, to);
        return;
    }
    for (; row + ROWS_AT_ONCE <= r->n_rows; row += ROWS_AT_ONCE)
        NAME(fold_rows)(operation, r, x + row * r->row_step, ROWS_AT_ONCE, &to->f64);
    if (row < r->n_rows)
        NAME(fold_rows)(operation, r, x + row * r->row_step, r->n_rows - row, &to->f64);
}

#define REDUCE(name, operation)                                                                    \
    static void NAME(name)(const struct reduction *r, const void *in, union accumulator *to)       \
    {                                                                                              \
        NAME(reduce)(operation, r, in, to);                                                        \
    }

REDUCE(sum, REDUCE_SUM)
REDUCE(magnitudes, REDUCE_SUM_OF_MAGNITUDES)
REDUCE(squares, REDUCE_SUM_OF_SQUARES)
REDUCE(deviations, REDUCE_SUM_OF_SQUARED_DEVIATIONS)
REDUCE(prod, REDUCE_PROD)
REDUCE(max, REDUCE_MAX)
REDUCE(min, REDUCE_MIN)

#undef REDUCE
#undef T
#undef NAME
#undef LOAD
