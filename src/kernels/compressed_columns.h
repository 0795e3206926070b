/* Expands rows of compressed matrices into columns, as packed_gemm.h reads them. Each lane has a
 * row: what they store is transposed before it is decoded, while it is small.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_COLUMNS_H
#define IRRUN_KERNELS_COMPRESSED_COLUMNS_H

#include "kernels/compressed_codes.h"

/* The bytes of its row that a lane takes at a time: a float, or 4 bytes of codes. */
ALWAYS_INLINE size_t lane_bytes(enum irrun_dtype dtype)
{
    return is_float(dtype) ? unit_bytes(dtype) : WIDE;
}

ALWAYS_INLINE size_t lane_elements(enum irrun_dtype dtype)
{
    return is_float(dtype) ? 1 : WIDE * codes_per_unit(dtype);
}

/* A row in each lane. */
struct lane_rows {
    size_t numbers[VECTOR_LANES]; /* of the rows */
    const unsigned char *at[VECTOR_LANES];
    const unsigned char *end; /* of the matrix */
};

/* Their scales and zero points in one group. */
struct lane_params {
    struct decoder decoder;
    vec zero; /* of a table */
    vec scales[MAX_FIELDS];
};

static vec load_params(const struct group_params *params, const struct lane_rows *rows,
                       size_t group, float none)
{
    float numbers[VECTOR_LANES];
    if (!params->data || params->row_step == 0)
        return vec_set1(param_of(params, 0, group, none));
    for (size_t i = 0; i < VECTOR_LANES; i++)
        numbers[i] = param_of(params, rows->numbers[i], group, none);
    return vec_load(numbers);
}

ALWAYS_INLINE struct lane_params lane_params_of(const struct compressed_matrix *matrix,
                                                enum irrun_dtype dtype,
                                                const struct lane_rows *rows, size_t group)
{
    struct lane_params params = {.decoder = {.values = matrix->values}};
    if (is_float(dtype))
        return params;
    vec scale = load_params(&matrix->scales, rows, group, 1);
    params.zero = load_params(&matrix->zero_points, rows, group, 0);
#ifdef VECTOR_HAS_LOOKUP
    if (is_table(dtype))
        params.decoder.table = vec_load(matrix->values);
#endif
    vec offset = vec_add(params.zero, vec_set1(offset_of(dtype)));
    UNROLL
    for (size_t field = 0; field < MAX_FIELDS; field++) {
        float factor = position_factor(dtype, field);
        params.decoder.zeros[field] =
            vec_add(vec_set1(FLOAT_2_23), vec_mul(offset, vec_set1(factor)));
        params.scales[field] = vec_mul(scale, vec_set1(1 / factor));
    }
    return params;
}

/* Loads VECTOR_LANES times lane_bytes of each row, or n_bytes where more would be beyond the end of
 * the matrix, and advances. Vector i has the i-th lane_bytes of every row. */
ALWAYS_INLINE void load_lanes(struct lane_rows *rows, enum irrun_dtype dtype, size_t n_bytes,
                              size_t ahead, vec *lanes)
{
    const size_t size = VECTOR_LANES * lane_bytes(dtype);
    unsigned char last[VECTOR_LANES * WIDE] = {0};
    bool is_whole = (size_t)(rows->end - rows->at[VECTOR_LANES - 1]) >= size;
    UNROLL
    for (size_t i = 0; i < VECTOR_LANES; i++) {
        const unsigned char *at = rows->at[i];
        __builtin_prefetch((const void *)((uintptr_t)at + ahead), 0, 2);
        if (!is_whole)
            at = memcpy(last, at, n_bytes);
        lanes[i] = is_float(dtype) ? load_floats(at, dtype) : (vec)load_chunk(at, dtype, WIDE);
        rows->at[i] += n_bytes;
    }
    vec_transpose(lanes);
}

/* Decodes the elements of a lane, and writes n of them, `step` floats apart. */
ALWAYS_INLINE void store_lane(const struct lane_params *params, enum irrun_dtype dtype, vec lane,
                              size_t n, float *to, size_t step)
{
    UNROLL
    for (size_t position = 0; position < lane_elements(dtype); position++) {
        vec values = lane;
        if (!is_float(dtype)) {
            values = decode(&params->decoder, dtype, (vec_i32)lane, position);
            if (is_table(dtype))
                values = vec_sub(values, params->zero);
            values = vec_mul(values, params->scales[position % n_fields(dtype)]);
        }
        if (position < n)
            vec_store(to + position * step, values);
    }
}

/* Expands some rows into VECTOR_LANES columns. */
ALWAYS_INLINE void expand_lanes(const struct compressed_columns *columns, enum irrun_dtype dtype,
                                size_t row, float *to)
{
    const struct compressed_matrix *matrix = columns->matrix;
    const size_t max_elements = VECTOR_LANES * lane_elements(dtype);
    size_t first = columns->first, end = first + columns->n, step = columns->step;
    struct lane_rows rows = {.end = matrix->row + compressed_bytes(matrix, matrix->n * matrix->k)};
    for (size_t i = 0; i < VECTOR_LANES; i++) {
        rows.numbers[i] = row + i < matrix->n ? row + i : matrix->n - 1;
        rows.at[i] = matrix->row + compressed_bytes(matrix, rows.numbers[i] * matrix->k + first);
    }
    while (first < end) {
        size_t group = first / matrix->group, left = (group + 1) * matrix->group - first;
        struct lane_params params = lane_params_of(matrix, dtype, &rows, group);
        left = left < end - first ? left : end - first;
        first += left;
        for (size_t n; left > 0; left -= n) {
            vec lanes[VECTOR_LANES];
            n = left < max_elements ? left : max_elements;
            load_lanes(&rows, dtype, compressed_bytes(matrix, n), columns->ahead, lanes);
            for (size_t i = 0; i < n; i += lane_elements(dtype))
                store_lane(&params, dtype, lanes[i / lane_elements(dtype)], n - i, to + i * step,
                           step);
            to += n * step;
        }
    }
}

ALWAYS_INLINE void expand_columns_type(const struct compressed_columns *columns,
                                       enum irrun_dtype dtype)
{
    for (size_t i = 0; i < PANEL_GROUP; i += VECTOR_LANES)
        expand_lanes(columns, dtype, columns->row + i, columns->to + i);
}

#endif
