/* Quantisation by one range.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/level.h"
#include "kernels/quantize.h"

ALWAYS_INLINE vec fake_vector(const struct quantization *q, vec x)
{
    vec level = vec_round(vec_mul(vec_sub(x, vec_set1(q->in_low)), vec_set1(q->inverse_scale)));
    vec y = vec_add(vec_mul(level, vec_set1(q->scale)), vec_set1(q->out_low));
    y = vec_select(vec_equal(level, vec_set1(q->last)), vec_set1(q->out_high), y);
    y = vec_select(vec_greater(x, vec_set1(q->high)), vec_set1(q->out_high), y);
    return vec_select(vec_less_equal(x, vec_set1(q->low)), vec_set1(q->out_low), y);
}

static void fake(const struct quantization *q, const float *x, float *out, size_t n)
{
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vec_store(out + i, fake_vector(q, vec_load(x + i)));
    if (i < n)
        vec_store_first(out + i, fake_vector(q, vec_load_first(x + i, n - i)), n - i);
}

const struct quantize_kernels LEVEL_NAME(quantize, LEVEL) = {fake};
