/* The kernels of panels.h for every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#include "kernels/panel_tile_body.h"

#include "kernels/panel_cell_body.h"

/* clang-format off */
#define ROWS(T, stream) \
    T(stream, 1) T(stream, 2) T(stream, 3) T(stream, 4) \
    T(stream, 5) T(stream, 6) T(stream, 7) T(stream, 8)
#define TILES(T) ROWS(T, 1) ROWS(T, 2) ROWS(T, 3) ROWS(T, 4) ROWS(T, 6)
/* clang-format on */

TILES(TILE)

/* A level has the tiles whose sums lie in registers, beside the factors of a column or the weights
 * of a row, whichever are fewer, one of the others, and a product where it is not added at once. */
#define VECTORS(stream) ((stream)*PANEL_GROUP / VECTOR_LANES)
#define FEWER(a, b) ((a) < (b) ? (a) : (b))
#define FITS(stream, rows)                                                                         \
    (VECTORS(stream) * (rows) + FEWER(VECTORS(stream), rows) + 1 + !VECTOR_HAS_FMA <=              \
     VECTOR_REGISTERS)

#define F32(stream, rows) [stream][rows] = FITS(stream, rows) ? tile_f32_##stream##_##rows : NULL,
#define F16(stream, rows) [stream][rows] = FITS(stream, rows) ? tile_f16_##stream##_##rows : NULL,

const struct panel_kernels LEVEL_NAME(panels, LEVEL) = {
    .f32 = {TILES(F32)},
#ifdef VECTOR_HAS_F16
    .f16 = {TILES(F16)},
    .has_f16 = true,
#endif
#ifdef VECTOR_FEW_F16_ROWS
    .for_few_f16_rows = &LEVEL_NAME(panels, VECTOR_FEW_F16_ROWS),
#endif
    .dots = dots,
    .cells = PANEL_CELLS,
};
