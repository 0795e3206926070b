/* Windows over single channels, for as many positions as fit into registers: the heart of
 * depthwise.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_DEPTHWISE_KERNELS_H
#define IRRUN_KERNELS_DEPTHWISE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define DEPTHWISE_MAX_VECTORS 4 /* vectors of a row */
#define DEPTHWISE_MAX_LANES 16  /* floats of a vector */

/* What becomes of the elements that a window sees: the sum of their products with weights, their
 * sum, or the largest. NaN is not the largest, and of nothing it is -inf. */
enum depthwise_term { DEPTHWISE_PRODUCTS, DEPTHWISE_SUMS, DEPTHWISE_MAXIMA, N_DEPTHWISE_TERMS };

/* n positions, a row of vectors at each. The taps, which are the elements of the window, are n_taps
 * neighbouring ones, n_lines times, line_taps apart, and all that n_slices times, slice_taps
 * apart. */
struct depthwise_tile {
    const float *image;
    ptrdiff_t start; /* tap t of position p meets image[start + p * image_step +
                                    offsets[t] ...] */
    ptrdiff_t image_step;
    float *out; /* position p goes to out + p * out_step */
    size_t out_step, n;
    const int32_t *offsets;
    const float *weights; /* of the taps; rows: one each, lanes: a vector each */
    size_t first_tap, n_slices, n_lines, n_taps, slice_taps, line_taps;
    size_t last;             /* rows: where the last vector begins */
    size_t n_stored;         /* rows: floats of it, all but if there is one vector only */
    const float *adjustment; /* added to products; sums are multiplied by it. Products in rows
                                    and sums in lanes have one for all, else they lie side by side;
                                    maxima have none */
    size_t adjustment_step;  /* floats to that of the next position */
    float *check;            /* a vector: the smallest maxima, or NaN where a sum was not
                                    finite */
    /* Pixels, of products: their channels lie side by side. The weights are [blocks][block_weights]
     * for a vector of channels each, and end with a vector of adjustments; the last block begins
     * within the one before, unless it is the only one. There is no check. */
    size_t n_channels, block_weights;
    const float *bounds; /* two that hold the results; NULL: none */
};
typedef void depthwise_tile_fn(const struct depthwise_tile *tile);

struct depthwise_kernels {
    size_t lanes;                                                          /* floats of a vector */
    depthwise_tile_fn *rows[N_DEPTHWISE_TERMS][DEPTHWISE_MAX_VECTORS + 1]; /* [][vectors] */
    depthwise_tile_fn *blocked[N_DEPTHWISE_TERMS]; /* a channel in each lane */
    depthwise_tile_fn *pixels;
    /* Every stride-th element of n_rows rows. */
    void (*copy_rows)(const float *from, size_t from_step, size_t stride, float *to, size_t to_step,
                      size_t n, size_t n_rows);
    /* n elements of n_rows rows, one for each lane; lanes beyond get zeros. */
    void (*to_blocked)(const float *from, size_t from_step, size_t n_rows, size_t n, float *to);
    void (*from_blocked)(const float *from, float *to, size_t to_step, size_t n_rows, size_t n);
};

#endif
