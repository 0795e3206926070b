/* Products of panels and the cells behind them with AVX2, FMA and F16C.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "to be compiled with AVX2, FMA and F16C"
#endif
#include "kernels/kernels.h"
#include "kernels/vector_avx2.h"

#include "kernels/vector_math_body.h"

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
    .dots = dots,
    .cells = PANEL_CELLS,
};
