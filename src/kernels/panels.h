/* Constant factors of dense products, packed once into panels that the product then reads from end
 * to end, and the kernels that do it. Every sum runs over k in one order, whatever the number of
 * rows, the layout and the level's registers: packing changes no bytes of a result.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_PANELS_H
#define IRRUN_KERNELS_PANELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/epilogue.h"
#include "kernels/gemm.h"
#include "kernels/panel_cells.h"

/* Columns come in groups of 16: a cache line of f32, a vector of AVX-512, two of AVX2. */
#define PANEL_GROUP 16
#define PANEL_MAX_WIDTH 6 /* groups of a panel */
#define PANEL_MAX_ROWS 8  /* of a tile */

/* c[row][column] = add[row][column] + sum over k of a[row][k] * weights[k][column], for as many
 * rows and groups of columns as the function's name says. add may be c. */
struct panel_tile {
    size_t k;
    const void *weights;
    const float *a;
    size_t lda;
    const float *add;
    size_t ld_add; /* 0: one row for all */
    float *c;
    size_t ldc;
};
typedef void panel_tile_fn(const struct panel_tile *tile);

/* A k x n matrix. A panel is `width` groups of columns; `stream` of them lie side by side along k,
 * so that a tile with that many groups reads memory in one direction without a gap. */
struct panels {
    size_t k, n_panels;
    size_t width;
    bool is_f16; /* elements stay f16 and are widened in registers */
    /* What follows is filled by panels_finish. */
    size_t stream;       /* divides width */
    size_t step_bytes;   /* from k to k + 1 */
    size_t block_k;      /* sums are added to what is there every so many k */
    size_t stream_bytes; /* of a stream of a panel */
    size_t panel_bytes;
    size_t max_rows;                          /* of a tile */
    panel_tile_fn *tiles[PANEL_MAX_ROWS + 1]; /* [rows] */
    const void *data;                         /* [n_panels][width / stream][k][stream][16] */
};

/* What a level has. A tile whose sums would not lie in registers is NULL; of one group and one row
 * there always is one. */
struct panel_kernels {
    panel_tile_fn *f32[PANEL_MAX_WIDTH + 1][PANEL_MAX_ROWS + 1]; /* [stream][rows] */
    panel_tile_fn *f16[PANEL_MAX_WIDTH + 1][PANEL_MAX_ROWS + 1];
    bool has_f16;
    const struct panel_kernels *for_few_f16_rows; /* who does one or two better; NULL = nobody */
    /* c (+)= a * b transposed, neither of them packed: sums have an order of their own. */
    gemm_f32_fn *dots;
    struct panel_cells cells;
};

/* Chooses the stream and the tiles that suit products of so many rows (any number can then be
 * multiplied), and works out what follows from the sizes; false if they overflow. size_bytes: of
 * the data. */
bool panels_finish(struct panels *panels, const struct panel_kernels *kernels, size_t rows,
                   size_t *size_bytes);

/* Copies 16 columns into place: column j of the group is source[j * ld + k], j < n_columns; the
 * others are zero. The source is f16 if the panels are, or if is_f16_source; it may lie at any
 * address. */
void panels_pack_group(const struct panels *panels, void *data, size_t panel, size_t group,
                       const void *source, bool is_f16_source, size_t ld, size_t n_columns);

/* The same for columns that lie side by side: element k of column j is source[k * ld + j]. */
void panels_pack_columns(const struct panels *panels, void *data, size_t panel, size_t group,
                         const void *source, bool is_f16_source, size_t ld, size_t n_columns);

/* One panel's columns of a product: as struct panel_tile, with any number of rows. */
struct panel_product {
    size_t panel, rows;
    const float *a;
    size_t lda;
    const float *add;
    size_t ld_add;
    float *c;
    size_t ldc;
};
void panels_multiply(const struct panels *panels, const struct panel_product *product);

/* Some panels' columns of c = a * weights, where c has n columns, perhaps fewer than the panels
 * together, and what an epilogue makes of them. */
struct panel_matrix {
    size_t begin, end; /* panels */
    size_t m, n;
    const float *a;
    size_t lda;
    float *c;
    size_t ldc;
    const struct epilogue *epilogue; /* NULL: none. Else c is its element `first` */
    size_t first;
};
void panels_multiply_matrix(const struct panels *panels, const struct panel_matrix *matrix);

#endif
