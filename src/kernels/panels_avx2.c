/* Products of panels and the cells behind them with AVX2, FMA and F16C.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "to be compiled with AVX2, FMA and F16C"
#endif
#include <immintrin.h>

#include "kernels/kernels.h"

#define VECTOR_LANES 8
#define VECTOR_HAS_F16
typedef __m256 vec;

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE vec vec_zero(void)
{
    return _mm256_setzero_ps();
}

ALWAYS_INLINE vec vec_set1(float x)
{
    return _mm256_set1_ps(x);
}

ALWAYS_INLINE vec vec_load(const float *at)
{
    return _mm256_loadu_ps(at);
}

ALWAYS_INLINE void vec_store(float *at, vec x)
{
    _mm256_storeu_ps(at, x);
}

ALWAYS_INLINE vec vec_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}

ALWAYS_INLINE vec vec_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}

ALWAYS_INLINE vec vec_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}

ALWAYS_INLINE vec vec_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}

/* a * b + c, c - a * b */
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}

ALWAYS_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

/* If either is NaN, b. */
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}

ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}

ALWAYS_INLINE vec vec_round(vec x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 2^n for whole n in -127 ... 127; the least gives 0. */
ALWAYS_INLINE vec vec_exp2(vec n)
{
    __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
}

ALWAYS_INLINE vec vec_abs(vec x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
}

ALWAYS_INLINE vec vec_with_sign_of(vec magnitude, vec x)
{
    return _mm256_or_ps(magnitude, _mm256_and_ps(x, _mm256_set1_ps(-0.0F)));
}

ALWAYS_INLINE vec vec_load_f16(const void *at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128(at));
}

#include "kernels/panel_tile_body.h"

#include "kernels/panel_cell_body.h"

/* 16 registers hold up to 12 sums beside a row's factors and the weights. */
/* clang-format off */
#define TILES(T) \
    T(1, 1) T(1, 2) T(1, 3) T(1, 4) T(1, 5) T(1, 6) \
    T(2, 1) T(2, 2) T(2, 3) \
    T(3, 1) T(3, 2) \
    T(4, 1) \
    T(6, 1)
/* clang-format on */

TILES(TILE)

#define F32(stream, rows) [stream][rows] = tile_f32_##stream##_##rows,
#define F16(stream, rows) [stream][rows] = tile_f16_##stream##_##rows,

const struct panel_kernels panels_avx2 = {
    .f32 = {TILES(F32)},
    .f16 = {TILES(F16)},
    .widest_stream = {0, 6, 3, 2, 1, 1, 1, 1, 1},
    .transpose_f32 = panel_transpose_f32_sse41,
    .transpose_f16 = panel_transpose_f16_sse41,
    .cells = PANEL_CELLS,
};
