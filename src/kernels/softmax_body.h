/* Softmax for vectors of any length: see vector_<isa>.h, vector_math_body.h and vector_exp_log_body.h for what comes
 * before.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/softmax.h"

#ifdef VECTOR_LANES

/* Where the elements of a vector's lanes lie: side by side, and so are the next. */
ALWAYS_INLINE vec load_lanes(const float *at, size_t n)
{
    return n < VECTOR_LANES ? vec_load_first(at, n) : vec_load(at);
}

ALWAYS_INLINE void store_lanes(float *at, vec x, size_t n)
{
    if (n < VECTOR_LANES)
        vec_store_first(at, x, n);
    else
        vec_store(at, x);
}

ALWAYS_INLINE float lanes_max(vec x, size_t n)
{
    float lanes[VECTOR_LANES], highest = -INFINITY;
    vec_store(lanes, x);
    for (size_t i = 0; i < VECTOR_LANES && i < n; i++)
        highest = lanes[i] > highest ? lanes[i] : highest;
    return highest;
}

ALWAYS_INLINE double lanes_sum(vec x)
{
    float lanes[VECTOR_LANES];
    double sum = 0;
    vec_store(lanes, x);
    for (size_t i = 0; i < VECTOR_LANES; i++)
        sum += (double)lanes[i];
    return sum;
}

ALWAYS_INLINE size_t lanes_left(size_t n, size_t i)
{
    return n - i < VECTOR_LANES ? n - i : VECTOR_LANES;
}

/* n numbers side by side. */
ALWAYS_INLINE void soften_row(const float *in, float *out, size_t n, bool is_log)
{
    vec highest = vec_set1(-INFINITY), sum = vec_zero();
    float top = -INFINITY;
    size_t whole = n / VECTOR_LANES * VECTOR_LANES;
    for (size_t i = 0; i < whole; i += VECTOR_LANES)
        highest = vec_max(vec_load(in + i), highest);
    top = lanes_max(highest, VECTOR_LANES);
    for (size_t i = whole; i < n; i++)
        top = in[i] > top ? in[i] : top;
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        size_t left = lanes_left(n, i);
        vec x = vec_sub(load_lanes(in + i, left), vec_set1(top)), power = vec_exp(x);
        if (left < VECTOR_LANES) { /* lanes beyond the end do not count */
            float lanes[VECTOR_LANES] = {0};
            vec_store_first(lanes, power, left);
            power = vec_load(lanes);
        }
        sum = vec_add(sum, power);
        store_lanes(out + i, is_log ? x : power, left);
    }
    double total = lanes_sum(sum);
    vec last = vec_set1((float)(is_log ? log(total) : 1 / total));
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        size_t left = lanes_left(n, i);
        vec x = load_lanes(out + i, left);
        store_lanes(out + i, is_log ? vec_sub(x, last) : vec_mul(x, last), left);
    }
}

/* n_lanes columns of n numbers each, `step` elements from one number to the next. */
ALWAYS_INLINE void soften_columns(const float *in, float *out, size_t n, size_t step,
                                  size_t n_lanes, bool is_log)
{
    vec highest = vec_set1(-INFINITY), sum = vec_zero();
    for (size_t i = 0; i < n; i++)
        highest = vec_max(load_lanes(in + i * step, n_lanes), highest);
    for (size_t i = 0; i < n; i++) {
        vec x = vec_sub(load_lanes(in + i * step, n_lanes), highest), power = vec_exp(x);
        sum = vec_add(sum, power);
        store_lanes(out + i * step, is_log ? x : power, n_lanes);
    }
    vec last = is_log ? vec_log(sum) : vec_div(vec_set1(1.0F), sum);
    for (size_t i = 0; i < n; i++) {
        vec x = load_lanes(out + i * step, n_lanes);
        store_lanes(out + i * step, is_log ? vec_sub(x, last) : vec_mul(x, last), n_lanes);
    }
}

ALWAYS_INLINE void run_softmax(const struct softmax *s, const float *in, float *out)
{
    for (size_t outer = 0; outer < s->n_outer; outer++) {
        size_t first = outer * s->n * s->n_inner;
        if (s->n_inner == 1)
            soften_row(in + first, out + first, s->n, s->is_log);
        for (size_t c = 0; s->n_inner > 1 && c < s->n_inner; c += VECTOR_LANES)
            soften_columns(in + first + c, out + first + c, s->n, s->n_inner,
                           lanes_left(s->n_inner, c), s->is_log);
    }
}

#endif
