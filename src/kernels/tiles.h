/* The shape of the tiles of AMX: of a product of rows of pairs of bf16, or of four bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_TILES_H
#define IRRUN_KERNELS_TILES_H

#include <stdbool.h>
#include <stddef.h>

#define TILE_ROWS 16  /* of factors and sums: rows of a matrix, positions of a convolution */
#define TILE_PAIRS 16 /* of a row of factors */

/* What a thread calls behind its products, so that the system need not save the tiles any more.
 * NULL at levels without tiles. */
typedef void tiles_end_fn(void);

/* Returns whether the level has tiles and the system permits them: Linux saves tiles only for a
 * process that asks for it, which is done once, when a product needs them. It holds for all
 * threads. */
bool tiles_request(tiles_end_fn *end);

/* How the tiles of this thread are configured: their rows, and the pairs of the last tile of a run
 * (0: as many as the others have). No rows: not at all. Every file with kernels for tiles reads and
 * writes it, because the CPU has one configuration for all of them. The model of the access is one
 * that executables and shared libraries have. */
extern _Thread_local __attribute__((tls_model("initial-exec"))) struct tiles_configured {
    size_t rows, last;
} tiles_configured;

#endif
