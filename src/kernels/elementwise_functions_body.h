/* What an element becomes, in the words of vector_<isa>.h, for the kernels that go op by op and for those that
 * go tile by tile. For files *_avx2.c and *_avx512.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifdef VECTOR_LANES

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

#endif
