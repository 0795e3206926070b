/* The tiles of AMX: registers of up to 16 rows of 64 bytes. An instruction multiplies a tile of
 * inputs by a tile of weights, and adds the product to a tile of sums, which are f32 or i32. An
 * element of an input or weight tile has 32 bits: a bf16 pair, or four bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_TILES_H
#define IRRUN_KERNELS_TILES_H

#include <stdbool.h>
#include <stddef.h>

#define TILE_ROWS 16  /* maximum rows of input and sum tiles: matrix rows, or positions */
#define TILE_PAIRS 16 /* maximum elements per row of an input tile */

/* Releases the tiles of the calling thread, which calls this after its products, so that Linux no
 * longer saves 8 KB of tiles when it switches threads. NULL at levels without tiles. */
typedef void tiles_end_fn(void);

/* Returns whether the kernels of a level may use tiles. `end` is the tiles_end_fn of the level;
 * NULL if the level has no tiles. Linux permits tiles to a process and all its threads on request;
 * the first call with a non-NULL `end` requests the permission. */
bool tiles_request(tiles_end_fn *end);

/* The configuration of this thread's tiles: `rows`, the rows of input and sum tiles (0: not
 * configured), and `last`, the pairs in the last tile of a run (0: TILE_PAIRS). All kernels that
 * use tiles share this record, because a thread has one configuration. The TLS model initial-exec
 * works in executables and shared libraries, and needs no function call. */
extern _Thread_local __attribute__((tls_model("initial-exec"))) struct tiles_configured {
    size_t rows, last;
} tiles_configured;

#endif
