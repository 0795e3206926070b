/* The tiles of AMX: registers of up to 16 rows of 64 bytes. An instruction adds the product of a
 * tile of factors and a tile of weights to a tile of sums, which are f32 or i32. An element of a
 * factor has 32 bits: a pair of bf16, or four bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_TILES_H
#define IRRUN_KERNELS_TILES_H

#include <stdbool.h>
#include <stddef.h>

#define TILE_ROWS 16  /* maximum rows of factors and sums: of a matrix, or positions */
#define TILE_PAIRS 16 /* maximum elements of a row of factors: pairs, or groups of four bytes */

/* A thread calls this after its products, so that Linux no longer saves the tiles, 8 KB, when it
 * switches threads. NULL at levels without tiles. */
typedef void tiles_end_fn(void);

/* Returns whether the kernels of a level may use tiles. `end` is the tiles_end_fn of the level,
 * NULL if it has no tiles. Linux permits tiles to a process and all of its threads on request; the
 * first call with an `end` that is not NULL requests them. */
bool tiles_request(tiles_end_fn *end);

/* How the tiles of this thread are configured: the rows of factors and sums, and the pairs in the
 * last tile of a run; last 0: TILE_PAIRS. rows 0: the tiles are not configured. The CPU has one
 * configuration for each thread, so the files with kernels for tiles share one record of it.
 * The TLS model initial-exec works in executables and in shared libraries, and needs no call. */
extern _Thread_local __attribute__((tls_model("initial-exec"))) struct tiles_configured {
    size_t rows, last;
} tiles_configured;

#endif
