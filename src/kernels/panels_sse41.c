/* Products of panels and the cells behind them with SSE4.1.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__SSE4_1__)
#error "to be compiled with SSE4.1"
#endif
#include <smmintrin.h>

#include "kernels/kernels.h"

#define VECTOR_LANES 4
typedef __m128 vec;

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE vec vec_zero(void)
{
    return _mm_setzero_ps();
}

ALWAYS_INLINE vec vec_set1(float x)
{
    return _mm_set1_ps(x);
}

ALWAYS_INLINE vec vec_load(const float *at)
{
    return _mm_loadu_ps(at);
}

ALWAYS_INLINE void vec_store(float *at, vec x)
{
    _mm_storeu_ps(at, x);
}

ALWAYS_INLINE vec vec_add(vec a, vec b)
{
    return _mm_add_ps(a, b);
}

ALWAYS_INLINE vec vec_sub(vec a, vec b)
{
    return _mm_sub_ps(a, b);
}

ALWAYS_INLINE vec vec_mul(vec a, vec b)
{
    return _mm_mul_ps(a, b);
}

ALWAYS_INLINE vec vec_div(vec a, vec b)
{
    return _mm_div_ps(a, b);
}

/* a * b + c, c - a * b, in two roundings */
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm_add_ps(_mm_mul_ps(a, b), c);
}

ALWAYS_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm_sub_ps(c, _mm_mul_ps(a, b));
}

/* If either is NaN, b. */
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return _mm_min_ps(a, b);
}

ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return _mm_max_ps(a, b);
}

ALWAYS_INLINE vec vec_round(vec x)
{
    return _mm_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 2^n for whole n in -127 ... 127; the least gives 0. */
ALWAYS_INLINE vec vec_exp2(vec n)
{
    __m128i exponent = _mm_add_epi32(_mm_cvtps_epi32(n), _mm_set1_epi32(127));
    return _mm_castsi128_ps(_mm_slli_epi32(exponent, 23));
}

ALWAYS_INLINE vec vec_abs(vec x)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0F), x);
}

ALWAYS_INLINE vec vec_with_sign_of(vec magnitude, vec x)
{
    return _mm_or_ps(magnitude, _mm_and_ps(x, _mm_set1_ps(-0.0F)));
}

/* The sums of the lanes of each. */
ALWAYS_INLINE void vec_store_sums(float to[4], vec a, vec b, vec c, vec d)
{
    _mm_storeu_ps(to, _mm_hadd_ps(_mm_hadd_ps(a, b), _mm_hadd_ps(c, d)));
}

#include "kernels/panel_tile_body.h"

#include "kernels/panel_cell_body.h"

/* 16 registers hold up to 12 sums beside a row's factors and the weights. */
/* clang-format off */
#define TILES(T) \
    T(1, 1) T(1, 2) \
    T(2, 1) \
    T(3, 1)
/* clang-format on */

TILES(TILE)

#define F32(stream, rows) [stream][rows] = tile_f32_##stream##_##rows,

const struct panel_kernels panels_sse41 = {
    .f32 = {TILES(F32)},
    .widest_stream = {0, 3, 1, 1, 1, 1, 1, 1, 1},
    .transpose_f32 = panel_transpose_f32_sse41,
    .transpose_f16 = panel_transpose_f16_sse41,
    .dots = dots,
    .cells = PANEL_CELLS,
};
