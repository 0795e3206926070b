/* The kernels of packed_gemm.h, compiled for each CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#include "kernels/gemm_microkernel_body.h"

#include "kernels/recurrent_cell_body.h"

/* clang-format off */
#define ROWS(T, nr_groups) \
    T(nr_groups, 1) T(nr_groups, 2) T(nr_groups, 3) T(nr_groups, 4) \
    T(nr_groups, 5) T(nr_groups, 6) T(nr_groups, 7) T(nr_groups, 8)
#define TILES(T) ROWS(T, 1) ROWS(T, 2) ROWS(T, 3) ROWS(T, 4) ROWS(T, 6)
/* clang-format on */

TILES(TILE)

/* A micro-kernel exists if the level has registers for the sums, for a column of a or a row of b
 * (the smaller of the two), for one element of the other operand and, without FMA, for a
 * product. */
#define VECTORS(nr_groups) ((nr_groups)*PANEL_GROUP / VECTOR_LANES)
#define FEWER(a, b) ((a) < (b) ? (a) : (b))
#define FITS(nr_groups, rows)                                                                      \
    (VECTORS(nr_groups) * (rows) + FEWER(VECTORS(nr_groups), rows) + 1 + !VECTOR_HAS_FMA <=        \
     VECTOR_REGISTERS)

#define F32(nr_groups, rows)                                                                       \
    [nr_groups][rows] = FITS(nr_groups, rows) ? tile_f32_##nr_groups##_##rows : NULL,
#define F16(nr_groups, rows)                                                                       \
    [nr_groups][rows] = FITS(nr_groups, rows) ? tile_f16_##nr_groups##_##rows : NULL,

#define BF16(nr_groups, rows)                                                                      \
    [nr_groups][rows] = FITS(nr_groups, rows) ? tile_bf16_##nr_groups##_##rows : NULL,

const struct gemm_microkernels LEVEL_NAME(packed_gemm, LEVEL) = {
    .f32 = {TILES(F32)},
#ifdef VECTOR_HAS_F16
    .f16 = {TILES(F16)},
    .has_f16 = true,
#endif
#ifdef VECTOR_HAS_BF16
    .bf16 = {TILES(BF16)},
    .round_pairs = vec_round_pairs,
#endif
#ifdef VECTOR_HAS_TILES
    .tiles = {{NULL, amx_1, amx_2, amx_3, amx_4, amx_5, amx_6}, tiles_end},
#endif
#ifdef VECTOR_FEW_F16_ROWS
    .for_few_f16_rows = &LEVEL_NAME(packed_gemm, VECTOR_FEW_F16_ROWS),
#endif
    .cells = RECURRENT_CELLS,
};
