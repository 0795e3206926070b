/* Convolution without patches: the input is laid out once, with its pads, so that what one kernel
 * element meets at neighbouring output positions lies side by side; then an output channel is a sum
 * of shifted pieces of that image. Strides split it into planes: positions 0, s, 2s ... of a row,
 * then 1, s + 1 ...
 *
 * A transposed convolution with stride s is s convolutions, each with every s-th kernel element,
 * which meet the same pieces: its phases. They are further output channels, whose positions are s
 * apart. If the kernel is no multiple of s, the later phases have an element less: they are a part
 * of their own, since an element of zero would make NaN of an infinity that it meets.
 *
 * Where neither strides nor pads change the size, the input is the image as it lies: a shifted
 * piece of it is right but where it reaches over an edge, and there masks make it zero.
 *
 * Positions are counted along the rows of a plane, which are longer than those of the output: what
 * is computed beyond the end of a row is left behind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_CONVOLUTION_IMAGE_H
#define IRRUN_KERNELS_CONVOLUTION_IMAGE_H

#include "kernels/convolution.h"
#include "kernels/image_tiles.h"
#include "kernels/thread_pool.h"

/* What a tile meets of so many sums stays in an L1 cache while all output channels pass: 128 pieces
 * of two cache lines are 16 KB. */
#define IMAGE_BLOCK_K 128

#define IMAGE_MOST_PARTS 8 /* long and short phases in each dimension */

/* What meets the same pieces: all output channels, of a transposed convolution with some of their
 * phases. */
struct image_part {
    int64_t first_phase[3], n_phases[3];
    int64_t first_element[3]; /* of window.kernel: from there on the part has them all */
    size_t rows, n_blocks;    /* channels with phases of a tile, and tiles for all of a group */
    size_t width, n_tiles;    /* positions of a tile, and tiles for all positions */
    size_t k, block_k;        /* c_in * elements, and how many of them are summed at a time */
    size_t first_piece, first_weight; /* where its pieces and its packed weights begin */
    image_tile_fn *tiles[N_TILE_KINDS];
};

struct convolution_image {
    struct window window; /* from the input to the positions */
    int64_t n_groups, c_in, c_out;
    bool is_transposed;
    bool is_flat; /* the input is the image, and masks say what of it counts */
    int64_t
        sizes[3]; /* of the input, if it is flat; the window is then one of a single dimension */
    size_t mask_bytes;          /* of a kernel element, if it is flat */
    const unsigned char *masks; /* [kernel][mask_bytes]: the caller's, as pieces */
    int64_t kernel[3];          /* of the filters as they are */
    int64_t spread[3]; /* output channels of a filter, and how far their positions are apart */
    int64_t skipped[3],
        out[3]; /* position p of phase f goes to p * spread + f - skipped, if that is in out */
    struct image_part parts[IMAGE_MOST_PARTS];
    size_t n_parts;
    int64_t n_planes[3], plane[3];
    size_t channel;                   /* floats of a channel's planes */
    size_t image_floats;              /* of all groups */
    size_t sums_floats;               /* of a thread, with what they begin with */
    size_t packed_floats;             /* of all weights */
    double n_products;                /* multiplications of all tiles */
    size_t n_pieces;                  /* of all parts */
    const struct image_piece *pieces; /* [n_pieces]: the caller's, by convolution_image_lists */
    int64_t lowest, highest;          /* of the offsets of pieces, if it is flat */
};

/* False if there is nothing to compute, or too much to count, or if it is a transposed convolution
 * with dilations or negative pads. */
bool convolution_image_plan(struct convolution_image *image, const struct image_tiles *tiles,
                            const struct convolution *convolution, int64_t n_groups,
                            bool is_transposed);

/* Whether the image suits the convolution better than patches, columns or direct loops. */
bool convolution_image_is_better(const struct convolution_image *image);

/* What convolution_by_image wants as its memory; false if that is too much to count. */
bool convolution_image_memory(const struct convolution_image *image, unsigned n_threads,
                              size_t *n_bytes);

/* Fills pieces, and masks if the image is flat. */
void convolution_image_lists(const struct convolution_image *image, struct image_piece *pieces,
                             unsigned char *masks);

/* weights: [n_groups][c_out][c_in][kernel], or [n_groups][c_in][c_out][kernel] of a transposed
 * convolution, of f32 or f16, at any address; packed: of each part [n_groups][k in
 * blocks][n_blocks][k of the block][rows]. */
void convolution_image_pack(const struct convolution_image *image, const void *weights, bool is_f16,
                            float *packed);

/* How many elements of window.kernel a part has. */
void convolution_image_elements(const struct convolution_image *image,
                                const struct image_part *part, int64_t n_elements[3]);

/* Number i in a box of these sizes. */
void convolution_image_place(const int64_t sizes[3], int64_t i, int64_t place[3]);

/* One batch element. */
struct convolution_image_job {
    const float *in;           /* [n_groups][c_in][in] */
    size_t n_before, n_behind; /* floats around it that can be read */
    const float *packed;       /* by convolution_image_pack */
    float *out;                /* [n_groups][c_out][out] */
    float *memory;
    struct thread_pool *pool;
    const struct epilogue *epilogue; /* NULL: none. Else out is its element `first` */
    size_t first;
};

/* The same bytes for any thread pool. */
void convolution_by_image(const struct convolution_image *image,
                          const struct convolution_image_job *job);

#endif
