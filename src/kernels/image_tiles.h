/* Dense products whose second factor is never copied together: row k of it is a piece of an image that
 * begins at an offset of its own. The heart of convolution_image.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_IMAGE_TILES_H
#define IRRUN_KERNELS_IMAGE_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAX_ROWS 12   /* output channels of a tile */
#define IMAGE_MAX_WIDTH 128 /* positions of a tile */

/* sums[row][i] (+)= starts[row] + sum over k of weights[k][row] * image[offsets[k] + i], for as many rows and positions
 * as the function stands for. */
struct image_tile {
    size_t k;
    const float *image;
    const uint32_t *offsets; /* [k] */
    const float *weights;    /* [k][rows] */
    float *sums;             /* [rows][width], dense */
    const float *starts;     /* [rows]; NULL: zeros, as it must be with is_added */
    bool is_added;           /* to what sums holds */
};
typedef void image_tile_fn(const struct image_tile *tile);

/* What a level has, up to the first NULL. */
struct image_tiles {
    image_tile_fn *tiles[IMAGE_MAX_ROWS + 1]; /* [rows] */
    uint8_t widths[IMAGE_MAX_ROWS + 1];       /* [rows]: positions */
};

#endif
