/* Products of panels and the cells behind them with AVX-512.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(__AVX512F__) || !defined(__AVX512DQ__)
#error "to be compiled with AVX-512 F and DQ"
#endif
#include "kernels/kernels.h"
#include "kernels/vector_avx512.h"

#include "kernels/vector_math_body.h"

#include "kernels/panel_tile_body.h"

#include "kernels/panel_cell_body.h"

/* One or two rows of f16 are bound by the conversion, which Zen 4 does one and a half times faster
 * into ymm (52 G elements per second at 3.7 GHz; zmm 35), and Zen 5 almost as fast.
 *
 * 32 registers hold up to 24 sums beside a row's factors and the weights. */
/* clang-format off */
#define TILES(T) \
    T(2, 1) T(2, 2) T(2, 3) T(2, 4) T(2, 5) T(2, 6) T(2, 7) T(2, 8) \
    T(3, 1) T(3, 2) T(3, 3) T(3, 4) T(3, 5) T(3, 6) T(3, 7) T(3, 8) \
    T(4, 1) T(4, 2) T(4, 3) T(4, 4) T(4, 5) T(4, 6) \
    T(6, 1) T(6, 2) T(6, 3) T(6, 4)
/* clang-format on */

TILES(TILE)

#define F32(stream, rows) [stream][rows] = tile_f32_##stream##_##rows,
#define F16(stream, rows) [stream][rows] = tile_f16_##stream##_##rows,

const struct panel_kernels panels_avx512 = {
    .f32 = {TILES(F32)},
    .f16 = {TILES(F16)},
    .for_few_f16_rows = &panels_avx2,
    .widest_stream = {0, 6, 6, 6, 6, 4, 4, 3, 3},
    .dots = dots,
    .cells = PANEL_CELLS,
};
