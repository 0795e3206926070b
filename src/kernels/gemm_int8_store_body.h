/* Stores the sums of the kernels of gemm_int8.h as they are, or scales them and stores them as f32
 * or u8. Include after vector_integer.h.
 * SPDX-License-Identifier: Apache-2.0 */
/* The members of struct requantization for a vector of columns. */
struct scaling {
    vec scale, bias, low, high;
};

ALWAYS_INLINE struct scaling load_scaling(enum int8_result to, const struct requantization *r,
                                          size_t column)
{
    if (to == INT8_TO_I32)
        return (struct scaling){0};
    return (struct scaling){vec_load(r->scale + column), vec_load(r->bias + column),
                            vec_load(r->low + column), vec_load(r->high + column)};
}

ALWAYS_INLINE vec scale_sum(const struct scaling *scaling, vec_i32 sum)
{
    vec x = vec_add(vec_mul(vec_of_i32(sum), scaling->scale), scaling->bias);
    return vec_min(vec_max(x, scaling->low), scaling->high);
}

/* Scales the first n lanes as `to` requires, and writes them to c, from element `at` on. */
ALWAYS_INLINE void store(enum int8_result to, const struct scaling *scaling, vec_i32 sum, void *c,
                         size_t at, size_t n)
{
    if (to == INT8_TO_I32) {
        vec_i32_store_first((int32_t *)c + at, sum, n);
        return;
    }
    vec x = scale_sum(scaling, sum);
    if (to == INT8_TO_F32) {
        vec_i32_store_first((float *)c + at, (vec_i32)x, n);
        return;
    }
    vec_i32_store_u8_first((uint8_t *)c + at, vec_round_to_i32(x), n);
}

#ifdef VECTOR_HAS_STORE_U8_ROWS
/* Stores two or four rows of a vector of columns as bytes. */
ALWAYS_INLINE void store_bytes(struct scaling scaling, const float *const *biases, size_t column,
                               const vec_i32 *sums, const size_t step, const size_t n_rows,
                               uint8_t *c, size_t ldc)
{
    vec_i32 whole[4];
    void *rows[4];
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        if (biases)
            scaling.bias = vec_load(biases[r] + column);
        whole[r] = vec_round_to_i32(scale_sum(&scaling, sums[r * step]));
        rows[r] = c + r * ldc;
    }
    vec_i32_store_u8_rows(rows, whole, n_rows);
}
#endif

/* Stores n_rows rows of a vector of columns, from element `at` of c on. */
ALWAYS_INLINE void store_rows(enum int8_result to, struct scaling scaling,
                              const float *const *biases, size_t column, const vec_i32 *sums,
                              const size_t step, const size_t n_rows, void *c, size_t at,
                              size_t ldc, size_t n)
{
    size_t first = 0;
#ifdef VECTOR_HAS_STORE_U8_ROWS
    if (to == INT8_TO_U8 && n == VECTOR_LANES) {
        UNROLL
        for (; first + 4 <= n_rows; first += 4)
            store_bytes(scaling, biases ? biases + first : NULL, column, sums + first * step, step,
                        4, (uint8_t *)c + at + first * ldc, ldc);
        if (n_rows % 4 >= 2) {
            store_bytes(scaling, biases ? biases + first : NULL, column, sums + first * step, step,
                        2, (uint8_t *)c + at + first * ldc, ldc);
            first += 2;
        }
    }
#endif
    UNROLL
    for (size_t r = first; r < n_rows; r++) {
        if (biases)
            scaling.bias = vec_load(biases[r] + column);
        store(to, &scaling, sums[r * step], c, at + r * ldc, n);
    }
}

/* Calls store_rows with a constant n for the most common case: whole vectors of bytes. */
ALWAYS_INLINE void store_sums(enum int8_result to, const struct requantization *requantization,
                              const float *const *biases, size_t column, const vec_i32 *sums,
                              const size_t step, const size_t n_rows, void *c, size_t at,
                              size_t ldc, size_t n)
{
    struct scaling scaling = load_scaling(to, requantization, column);
    if (to == INT8_TO_U8 && n == VECTOR_LANES)
        store_rows(INT8_TO_U8, scaling, biases, column, sums, step, n_rows, c, at, ldc,
                   VECTOR_LANES);
    else
        store_rows(to, scaling, biases, column, sums, step, n_rows, c, at, ldc, n);
}
