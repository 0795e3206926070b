/* Softmax of f32, compiled for each CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

/* Returns the largest lane; no lane is NaN. Compares lanes in pairs, in log2(VECTOR_LANES) steps; a
 * loop over the lanes would take as long as 100 elements. */
ALWAYS_INLINE float lanes_max(vec x)
{
    float lanes[VECTOR_LANES];
    vec_store(lanes, x);
    UNROLL
    for (size_t width = VECTOR_LANES / 2; width > 0; width /= 2) {
        UNROLL
        for (size_t i = 0; i < width; i++)
            lanes[i] = lanes[i] > lanes[i + width] ? lanes[i] : lanes[i + width];
    }
    return lanes[0];
}

ALWAYS_INLINE double lanes_sum(vec x)
{
    float lanes[VECTOR_LANES];
    double sums[VECTOR_LANES / 2];
    vec_store(lanes, x);
    vec_f64_store(sums, vec_f64_load_f32(lanes) + vec_f64_load_f32(lanes + VECTOR_LANES / 2));
    UNROLL
    for (size_t width = VECTOR_LANES / 4; width > 0; width /= 2) {
        UNROLL
        for (size_t i = 0; i < width; i++)
            sums[i] += sums[i + width];
    }
    return sums[0];
}

ALWAYS_INLINE size_t lanes_left(size_t n, size_t i)
{
    return n - i < VECTOR_LANES ? n - i : VECTOR_LANES;
}

/* A compensated sum (Kahan) of blocks of vectors; within a block, vectors are added without
 * compensation. A plain sum of 250,000 numbers would have an error of 2e-5. */
struct long_sum {
    vec part, total, compensation;
};

#define PART_LENGTH 16

ALWAYS_INLINE void sum_add_part(struct long_sum *sum)
{
    vec y = vec_sub(sum->part, sum->compensation), next = vec_add(sum->total, y);
    sum->compensation = vec_sub(vec_sub(next, sum->total), y);
    sum->total = next;
    sum->part = vec_zero();
}

/* Adds x, the vector with number `index`. */
ALWAYS_INLINE void sum_add(struct long_sum *sum, vec x, size_t index)
{
    sum->part = vec_add(sum->part, x);
    if (index % PART_LENGTH == PART_LENGTH - 1)
        sum_add_part(sum);
}

/* Returns the maximum of in[i] * scale. The last vector may overlap the one before it. */
ALWAYS_INLINE float row_max(const float *in, size_t n, float scale)
{
    const vec scales = vec_set1(scale);
    vec highest = vec_set1(-INFINITY);
    if (n < VECTOR_LANES) {
        float top = -INFINITY;
        for (size_t i = 0; i < n; i++)
            top = in[i] * scale > top ? in[i] * scale : top;
        return top;
    }
    for (size_t i = 0; i < n - VECTOR_LANES; i += VECTOR_LANES)
        highest = vec_max(vec_mul(vec_load(in + i), scales), highest);
    return lanes_max(vec_max(vec_mul(vec_load(in + n - VECTOR_LANES), scales), highest));
}

/* Computes the softmax of n contiguous numbers. Lanes past the end add 0 to the sum. */
ALWAYS_INLINE void softmax_row(const float *in, float *out, size_t n, bool is_log, float scale)
{
    const vec scales = vec_set1(scale), top = vec_set1(row_max(in, n, scale));
    struct long_sum sum = {vec_zero(), vec_zero(), vec_zero()};
    size_t whole = n / VECTOR_LANES * VECTOR_LANES;
    for (size_t i = 0; i < whole; i += VECTOR_LANES) {
        vec x = vec_sub(vec_mul(vec_load(in + i), scales), top), power = vec_exp_nonpositive(x);
        sum_add(&sum, power, i / VECTOR_LANES);
        vec_store(out + i, is_log ? x : power);
    }
    if (whole < n) {
        float lanes[VECTOR_LANES] = {0};
        vec x = vec_sub(vec_mul(vec_load_first(in + whole, n - whole), scales), top);
        vec power = vec_exp_nonpositive(x);
        vec_store_first(lanes, power, n - whole);
        sum_add(&sum, vec_load(lanes), whole / VECTOR_LANES);
        vec_store_first(out + whole, is_log ? x : power, n - whole);
    }
    sum_add_part(&sum);
    double total = lanes_sum(sum.total);
    vec last = vec_set1((float)(is_log ? log(total) : 1 / total));
    for (size_t i = 0; i < whole; i += VECTOR_LANES)
        vec_store(out + i,
                  is_log ? vec_sub(vec_load(out + i), last) : vec_mul(vec_load(out + i), last));
    if (whole < n) {
        vec x = vec_load_first(out + whole, n - whole);
        vec_store_first(out + whole, is_log ? vec_sub(x, last) : vec_mul(x, last), n - whole);
    }
}

/* Computes the softmax of n_lanes adjacent columns. A column has n numbers, `step` elements
 * apart. */
ALWAYS_INLINE void softmax_columns(const float *in, float *out, size_t n, size_t step,
                                   size_t n_lanes, bool is_log, float scale)
{
    const vec scales = vec_set1(scale);
    vec highest = vec_set1(-INFINITY);
    struct long_sum sum = {vec_zero(), vec_zero(), vec_zero()};
    for (size_t i = 0; i < n; i++)
        highest = vec_max(vec_mul(vec_load_n(in + i * step, n_lanes), scales), highest);
    for (size_t i = 0; i < n; i++) {
        vec x = vec_sub(vec_mul(vec_load_n(in + i * step, n_lanes), scales), highest),
            power = vec_exp_nonpositive(x);
        sum_add(&sum, power, i);
        vec_store_n(out + i * step, is_log ? x : power, n_lanes);
    }
    sum_add_part(&sum);
    vec last = is_log ? vec_log(sum.total) : vec_div(vec_set1(1.0F), sum.total);
    for (size_t i = 0; i < n; i++) {
        vec x = vec_load_n(out + i * step, n_lanes);
        vec_store_n(out + i * step, is_log ? vec_sub(x, last) : vec_mul(x, last), n_lanes);
    }
}

/* Rows of up to this many numbers are computed as columns, since they would leave lanes empty, and
 * to add up the lanes would take longer than to compute the elements. This holds for a single row,
 * too, because results must not depend on the number of rows. */
#define SHORT_ROW VECTOR_LANES

/* Computes at most VECTOR_LANES rows of two numbers. */
ALWAYS_INLINE void softmax_pairs(const float *in, float *out, size_t n_rows, bool is_log,
                                 float scale)
{
    vec rows[2];
    float columns[2 * VECTOR_LANES];
    const size_t n_first = lanes_left(2 * n_rows, 0), n_rest = 2 * n_rows - n_first;
    rows[0] = vec_load_n(in, n_first);
    rows[1] = vec_load_n(in + n_first, n_rest);
    vec_store(columns, vec_even(rows[0], rows[1]));
    vec_store(columns + VECTOR_LANES, vec_odd(rows[0], rows[1]));
    softmax_columns(columns, columns, 2, VECTOR_LANES, VECTOR_LANES, is_log, scale);
    vec_interleave(vec_load(columns), vec_load(columns + VECTOR_LANES), rows);
    vec_store_n(out, rows[0], n_first);
    vec_store_n(out + n_first, rows[1], n_rest);
}

/* Computes at most VECTOR_LANES short rows. */
ALWAYS_INLINE void softmax_short_rows(const float *in, float *out, size_t n, size_t n_rows,
                                      bool is_log, float scale)
{
    vec rows[VECTOR_LANES];
    float columns[VECTOR_LANES * VECTOR_LANES];
    for (size_t row = 0; row < VECTOR_LANES; row++)
        rows[row] = row < n_rows ? vec_load_n(in + row * n, n) : vec_zero();
    vec_transpose(rows);
    for (size_t i = 0; i < n; i++)
        vec_store(columns + i * VECTOR_LANES, rows[i]);
    softmax_columns(columns, columns, n, VECTOR_LANES, VECTOR_LANES, is_log, scale);
    for (size_t i = 0; i < n; i++)
        rows[i] = vec_load(columns + i * VECTOR_LANES);
    vec_transpose(rows);
    for (size_t row = 0; row < n_rows; row++)
        vec_store_n(out + row * n, rows[row], n);
}

void LEVEL_NAME(softmax_f32, LEVEL)(const struct softmax *s, const float *in, float *out)
{
    bool is_short = s->n_inner == 1 && s->n <= SHORT_ROW;
    for (size_t row = 0; row < s->n_outer && is_short; row += VECTOR_LANES)
        if (s->n == 2)
            softmax_pairs(in + 2 * row, out + 2 * row, lanes_left(s->n_outer, row), s->is_log,
                          s->scale);
        else
            softmax_short_rows(in + row * s->n, out + row * s->n, s->n, lanes_left(s->n_outer, row),
                               s->is_log, s->scale);
    for (size_t outer = 0; outer < s->n_outer && !is_short; outer++) {
        size_t first = outer * s->n * s->n_inner;
        if (s->n_inner == 1)
            softmax_row(in + first, out + first, s->n, s->is_log, s->scale);
        for (size_t c = 0; s->n_inner > 1 && c < s->n_inner; c += VECTOR_LANES)
            softmax_columns(in + first + c, out + first + c, s->n, s->n_inner,
                            lanes_left(s->n_inner, c), s->is_log, s->scale);
    }
}
