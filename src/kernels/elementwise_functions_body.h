/* What an element becomes, in the words of vector_<level>.h, for the kernels that go op by op and
 * for those that go tile by tile.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#ifndef VECTOR_LANES
#error "include the words of a level before: kernels/level.h"
#endif

ALWAYS_INLINE vec vec_maximum(vec x, vec y)
{
    return vec_max(y, x);
}
ALWAYS_INLINE vec vec_minimum(vec x, vec y)
{
    return vec_min(y, x);
}
ALWAYS_INLINE vec vec_squared_difference(vec x, vec y)
{
    return vec_mul(vec_sub(x, y), vec_sub(x, y));
}
ALWAYS_INLINE vec vec_prelu(vec x, vec y)
{
    return vec_select(vec_less(x, vec_zero()), vec_mul(x, y), x);
}
ALWAYS_INLINE vec vec_relu(vec x)
{
    return vec_max(vec_zero(), x);
}

ALWAYS_INLINE vec vec_clamp(vec x, vec low, vec high)
{
    return vec_select(vec_less(x, low), low, vec_min(high, x));
}

ALWAYS_INLINE vec vec_hsigmoid(vec x)
{
    vec y = vec_div(vec_add(x, vec_set1(3.0F)), vec_set1(6.0F));
    return vec_clamp(y, vec_zero(), vec_set1(1.0F));
}
ALWAYS_INLINE vec vec_hswish(vec x)
{
    return vec_mul(vec_hsigmoid(x), x);
}
ALWAYS_INLINE vec vec_softsign(vec x)
{
    return vec_div(x, vec_add(vec_set1(1.0F), vec_abs(x)));
}
ALWAYS_INLINE vec vec_swish(vec x)
{
    return vec_mul(vec_sigmoid(x), x);
}
ALWAYS_INLINE vec vec_gelu_erf(vec x)
{
    vec e = vec_erf(vec_mul(x, vec_set1((float)M_SQRT1_2)));
    return vec_mul(vec_mul(vec_add(vec_set1(1.0F), e), vec_set1(0.5F)), x);
}
ALWAYS_INLINE vec vec_gelu_tanh(vec x)
{
    vec cube = vec_mul(vec_mul(vec_mul(vec_set1(0.044715F), x), x), x);
    vec t = vec_tanh(vec_mul(vec_set1((float)(M_SQRT1_2 * M_2_SQRTPI)), vec_add(x, cube)));
    return vec_mul(vec_mul(vec_add(vec_set1(1.0F), t), vec_set1(0.5F)), x);
}
