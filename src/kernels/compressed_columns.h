/* Expands rows of compressed matrices into the columns that packed_gemm.h reads. Each lane holds
 * one row: codes are transposed before they are decoded, while they take few registers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COMPRESSED_COLUMNS_H
#define IRRUN_KERNELS_COMPRESSED_COLUMNS_H

#include "kernels/compressed_codes.h"

/* Returns the number of bytes that a lane loads from its row at a time: a float, or 4 bytes of
 * codes. */
ALWAYS_INLINE size_t lane_bytes(enum irrun_dtype dtype)
{
    return is_float(dtype) ? unit_bytes(dtype) : WIDE_UNITS;
}

ALWAYS_INLINE size_t lane_elements(enum irrun_dtype dtype)
{
    return is_float(dtype) ? 1 : WIDE_UNITS * codes_per_unit(dtype);
}

/* Returns which element of a lane is decoded at a position. */
ALWAYS_INLINE size_t lane_element_at(enum irrun_dtype dtype, size_t position)
{
#ifdef VECTOR_HAS_BYTE_LOOKUP
    if (has_4_bits(dtype))
        return position % 4 * 2 + position / 4;
#endif
    (void)dtype;
    return position;
}

/* Permutes the bytes of codes within 4 lanes, so that look_up decodes one element of each lane per
 * position. */
ALWAYS_INLINE vec_i32 order_lanes(vec_i32 lanes, enum irrun_dtype dtype)
{
#ifdef VECTOR_HAS_BYTE_LOOKUP
    static const uint8_t of_u4[] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
    static const uint8_t of_nf4[] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    return (vec_i32)bits_look_up((bits)lanes, bits_repeat_16(dtype == IRRUN_U4 ? of_u4 : of_nf4));
#else
    (void)dtype;
    return lanes;
#endif
}

/* The rows of the matrix that the lanes decode. */
struct lane_rows {
    size_t numbers[VECTOR_LANES]; /* row numbers in the matrix */
    const unsigned char *at[VECTOR_LANES];
    const unsigned char *end; /* end of the matrix */
};

/* The scales and zero points of the rows of struct lane_rows in one scale group. */
struct lane_params {
    struct decoder decoder;
    vec zero; /* types of 4 bits: the zero points */
    vec scales[N_FIELDS];
};

/* Returns the scale or zero point of each row; `none` if the matrix has none. */
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

ALWAYS_INLINE void set_params(struct lane_params *params, const struct compressed_matrix *matrix,
                              enum irrun_dtype dtype, const struct lane_rows *rows, size_t group)
{
    if (is_float(dtype))
        return;
    vec scale = load_params(&matrix->scales, rows, group, 1);
    params->zero = load_params(&matrix->zero_points, rows, group, 0);
    if (is_bytes(dtype))
        set_zero(&params->decoder, matrix->dtype, params->zero);
    UNROLL
    for (size_t field = 0; field < N_FIELDS; field++)
        params->scales[field] = vec_mul(scale, vec_set1(1 / position_factor(dtype, field)));
}

/* Loads VECTOR_LANES * lane_bytes bytes of each row, or only n_bytes if more would exceed the end
 * of the matrix, and advances by n_bytes. Vector i gets the i-th lane_bytes bytes of every row. */
ALWAYS_INLINE void load_lanes(struct lane_rows *rows, enum irrun_dtype dtype, size_t n_bytes,
                              size_t ahead, vec *lanes)
{
    const size_t size = VECTOR_LANES * lane_bytes(dtype);
    unsigned char last[VECTOR_LANES * WIDE_UNITS] = {0};
    bool is_whole = (size_t)(rows->end - rows->at[VECTOR_LANES - 1]) >= size;
    UNROLL
    for (size_t i = 0; i < VECTOR_LANES; i++) {
        const unsigned char *at = rows->at[i];
        __builtin_prefetch((const void *)((uintptr_t)at + ahead), 0, 2);
        if (!is_whole)
            at = memcpy(last, at, n_bytes);
        lanes[i] = is_float(dtype) ? load_floats(at, dtype) : (vec)vec_i32_load(at);
        rows->at[i] += n_bytes;
    }
    vec_transpose(lanes);
}

/* Decodes the elements of each lane, and writes n elements of every row, `step` floats apart. */
ALWAYS_INLINE void store_lane(const struct lane_params *params, enum irrun_dtype dtype, vec lane,
                              size_t n, float *to, size_t step)
{
    if (has_4_bits(dtype))
        lane = (vec)order_lanes((vec_i32)lane, dtype);
    UNROLL
    for (size_t position = 0; position < lane_elements(dtype); position++) {
        vec values = lane;
        if (!is_float(dtype)) {
            values = decode(&params->decoder, dtype, (vec_i32)lane, position);
            if (has_4_bits(dtype))
                values = vec_sub(values, params->zero);
            values = vec_mul(values, params->scales[position % N_FIELDS]);
        }
        if (lane_element_at(dtype, position) < n)
            vec_store(to + lane_element_at(dtype, position) * step, values);
    }
}

/* Expands VECTOR_LANES rows, from `row` on, into columns. */
ALWAYS_INLINE void expand_lanes(const struct compressed_columns *columns, enum irrun_dtype dtype,
                                size_t row, float *to)
{
    const struct compressed_matrix *matrix = columns->matrix;
    const size_t max_elements = VECTOR_LANES * lane_elements(dtype);
    size_t first = columns->first, end = first + columns->n, step = columns->step;
    struct lane_rows rows = {.end = matrix->row + compressed_bytes(matrix, matrix->n * matrix->k)};
    struct lane_params params;
    if (has_4_bits(dtype))
        params.decoder.table = make_value_table(matrix, 0);
    for (size_t i = 0; i < VECTOR_LANES; i++) {
        rows.numbers[i] = row + i < matrix->n ? row + i : matrix->n - 1;
        rows.at[i] = matrix->row + compressed_bytes(matrix, rows.numbers[i] * matrix->k + first);
    }
    while (first < end) {
        size_t group = first / matrix->group, left = (group + 1) * matrix->group - first;
        set_params(&params, matrix, dtype, &rows, group);
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
