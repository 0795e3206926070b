/* Dense products whose second factor is never copied together: row k of it is a piece of an image
 * that begins at an offset of its own. The heart of convolution_image.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_IMAGE_TILES_H
#define IRRUN_KERNELS_IMAGE_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAX_ROWS 12   /* output channels of a tile */
#define IMAGE_MAX_WIDTH 128 /* positions of a tile */

/* A term's piece of the image: where it begins, in floats from the tile's image on, and the bytes
 * from the tile's masks on whose bits say which of its positions count; the others are zeros. */
struct image_piece {
    int32_t offset;
    uint32_t mask;
};

/* sums[row][i] (+)= starts[row] + sum over k of weights[k][row] * piece k [i], for as many rows and
 * positions as the function stands for. */
struct image_tile {
    size_t k;
    const float *image;
    const unsigned char *masks;       /* bit i of byte i / 8 is position i; not for whole tiles */
    const struct image_piece *pieces; /* [k] */
    const float *weights;             /* [k][rows] */
    float *sums;                      /* [rows][width], dense */
    const float *starts;              /* [rows]; NULL: zeros, as it must be with is_added */
    bool is_added;                    /* to what sums holds */
};
typedef void image_tile_fn(const struct image_tile *tile);

/* TILE_WHOLE looks at no mask, TILE_EDGE reads nothing that a mask leaves out: it may lie
 * anywhere. */
enum image_tile_kind { TILE_WHOLE, TILE_MASKED, TILE_EDGE, N_TILE_KINDS };

/* What a level has, up to the first NULL. */
struct image_tiles {
    image_tile_fn *tiles[N_TILE_KINDS][IMAGE_MAX_ROWS + 1]; /* [kind][rows] */
    uint8_t widths[IMAGE_MAX_ROWS + 1];                     /* [rows]: positions, a multiple of 8 */
};

#endif
