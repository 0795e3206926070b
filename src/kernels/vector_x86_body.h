/* The vector functions whose intrinsics have the same name in SSE, AVX and AVX-512 except for a
 * prefix. MM adds the prefix of a level; MM_ROUND is the intrinsic that rounds.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(MM) || !defined(MM_ROUND)
#error "include vector_<level>.h of an x86 level"
#endif

ALWAYS_INLINE vec vec_set1(float x)
{
    return MM(set1_ps)(x);
}
/* Zen 4 broadcasts floats on a port of the FMAs, but integers on another. */
ALWAYS_INLINE vec vec_set1_at(const float *at)
{
    int32_t x;
    memcpy(&x, at, sizeof x);
    return (vec)MM(set1_epi32)(x);
}
#if VECTOR_HAS_FMA
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return MM(fmadd_ps)(a, b, c);
}
ALWAYS_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return MM(fnmadd_ps)(a, b, c);
}
#endif
/* Return b if either operand is NaN or both are zeros. */
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return MM(min_ps)(a, b);
}
ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return MM(max_ps)(a, b);
}
ALWAYS_INLINE vec_f64 vec_f64_min(vec_f64 a, vec_f64 b)
{
    return MM(min_pd)(a, b);
}
ALWAYS_INLINE vec_f64 vec_f64_max(vec_f64 a, vec_f64 b)
{
    return MM(max_pd)(a, b);
}
ALWAYS_INLINE vec vec_sqrt(vec x)
{
    return MM(sqrt_ps)(x);
}
ALWAYS_INLINE vec vec_floor(vec x)
{
    return MM_ROUND(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
ALWAYS_INLINE vec vec_ceiling(vec x)
{
    return MM_ROUND(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}
ALWAYS_INLINE vec vec_round(vec x)
{
    return MM_ROUND(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
ALWAYS_INLINE vec vec_abs(vec x)
{
    return MM(andnot_ps)(vec_set1(-0.0F), x);
}
ALWAYS_INLINE vec vec_with_sign_of(vec magnitude, vec x)
{
    return MM(or_ps)(magnitude, MM(and_ps)(x, vec_set1(-0.0F)));
}

/* Stores a vector without caching it (non-temporal). `at` must be aligned to the vector size; a
 * fence must follow. */
ALWAYS_INLINE void bits_stream(void *at, bits x)
{
    MM(stream_ps)(at, (vec)x);
}
ALWAYS_INLINE void bits_fence(void)
{
    _mm_sfence();
}
