/* Products of panels and the cells behind them with SSE4.1.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__SSE4_1__)
#error "to be compiled with SSE4.1"
#endif
#include "kernels/kernels.h"
#include "kernels/vector_sse41.h"

#include "kernels/vector_math_body.h"

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
    .dots = dots,
    .cells = PANEL_CELLS,
};
