/* The interface of the micro-kernels of depthwise.h: sliding windows over single channels, as many
 * positions at a time as registers hold.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_DEPTHWISE_KERNELS_H
#define IRRUN_KERNELS_DEPTHWISE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define DEPTHWISE_MAX_VECTORS 4 /* vectors per row of a tile */
#define DEPTHWISE_MAX_LANES 16  /* floats per vector */
/* With the channels last, tiles of few positions compute this many vectors of channels side by
 * side, since the sums of few positions alone do not hide the latency of additions. */
#define DEPTHWISE_CHANNEL_VECTORS 4

/* In rows of fewer positions, each position loads its own pixels. */
#define DEPTHWISE_MIN_ROW 4

/* The result of a window: the sum of the products of its elements with weights, the sum of its
 * elements, or their maximum. A maximum skips NaN, and is -inf for an empty window. */
enum depthwise_term { DEPTHWISE_PRODUCTS, DEPTHWISE_SUMS, DEPTHWISE_MAXIMA, N_DEPTHWISE_TERMS };

/* n positions with one or more vectors of results each. The window has n_slices slices, slice_taps
 * taps apart; a slice has n_lines lines, line_taps taps apart; a line has n_taps consecutive
 * taps. */
struct depthwise_tile {
    const float *image;
    ptrdiff_t start; /* tap t of position p is at image[start + p * image_step + offsets[t]] */
    ptrdiff_t image_step;
    float *out; /* the result of position p goes to out + p * out_step */
    size_t out_step, n;
    const int32_t *offsets;
    const float *weights; /* a float per tap; with channels in lanes, a vector per tap */
    size_t first_tap, n_slices, n_lines, n_taps, slice_taps, line_taps;
    size_t last;     /* rows: first element of the last vector */
    size_t n_stored; /* rows: floats to store if there is only one vector */
    /* Products are increased by it, sums are multiplied by it, and maxima ignore it. It is one
     * float for all lanes in products along rows and in sums of channels in lanes, otherwise a
     * vector. */
    const float *adjustment;
    size_t adjustment_step; /* floats from one position to the next */
    /* A vector: the lowest maximum so far; for sums and products, NaN in lanes with a result that
     * is not finite. */
    float *check;
    /* Channels in lanes, for products and maxima. The weights are [blocks][block_weights]: each
     * block holds a vector of channels per tap. The last block overlaps the one before, so that it
     * is full, unless it is the only one. The adjustment of products holds a float per channel;
     * NULL: zeros. Only maxima have a check. */
    size_t n_channels, block_weights;
    const float *bounds; /* minimum and maximum of products; NULL: none */
    /* For products. If row_stride is not 0, the tile has at least DEPTHWISE_MIN_ROW positions of
     * one row, row_stride (1 or 2) pixels apart, and each line of a window is 3 or 5 adjacent
     * pixels. The window of position 0 begins at first_pixel of an input row of n_pixels pixels.
     * Pixels outside this row are skipped. */
    size_t row_stride, n_pixels;
    ptrdiff_t first_pixel;
};
typedef void depthwise_tile_fn(const struct depthwise_tile *tile);

/* Pools a channel in windows of 2 x 2 without overlap. */
struct depthwise_pool_2x2 {
    const float *in;
    size_t in_row;
    float *out;
    size_t n_rows, n; /* output rows, and floats per row */
    float scale;      /* sums are multiplied by it */
    float *check;     /* as in depthwise_tile */
};
typedef void depthwise_pool_2x2_fn(const struct depthwise_pool_2x2 *args);

struct depthwise_kernels {
    size_t lanes; /* floats per vector */
    /* Kernels with half as many lanes; NULL: none. */
    const struct depthwise_kernels *half_width;
    depthwise_tile_fn *rows[N_DEPTHWISE_TERMS][DEPTHWISE_MAX_VECTORS + 1]; /* [][vectors] */
    depthwise_tile_fn *pixels[N_DEPTHWISE_TERMS];       /* for sums: one vector of channels */
    depthwise_pool_2x2_fn *pool_2x2[N_DEPTHWISE_TERMS]; /* NULL for products */
    /* Copies every stride-th element of n_rows rows. */
    void (*copy_rows)(const float *from, size_t from_step, size_t stride, float *to, size_t to_step,
                      size_t n, size_t n_rows);
    /* Transposes n elements of n_rows rows, one row per lane; lanes without a row get zeros. */
    void (*to_blocked)(const float *from, size_t from_step, size_t n_rows, size_t n, float *to);
    /* Does the reverse. Clamps to `bounds`, unless NULL. Sets `check`, unless NULL, to NaN in the
     * lanes of rows that contain a number that is not finite. */
    void (*from_blocked)(const float *from, float *to, size_t to_step, size_t n_rows, size_t n,
                         const float *bounds, float *check);
};

#endif
