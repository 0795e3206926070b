/* Convolution without patches: the input is laid out once, with its pads, so that what one kernel element meets
 * at neighbouring output positions lies side by side; then an output channel is a sum of shifted pieces of
 * that image. Strides split it into planes: positions 0, s, 2s ... of a row, then 1, s + 1 ...
 *
 * Output positions are counted along the rows of a plane, which are longer than those of the output: what is
 * computed beyond the end of a row is left behind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_CONVOLUTION_IMAGE_H
#define IRRUN_KERNELS_CONVOLUTION_IMAGE_H

#include "kernels/convolution.h"
#include "kernels/image_tiles.h"
#include "kernels/team.h"

struct convolution_image {
    struct convolution convolution; /* of a group */
    int64_t n_groups;
    size_t rows, n_blocks; /* output channels of a tile, and tiles for all of a group */
    size_t width, n_tiles; /* positions of a tile, and tiles for all positions */
    size_t k;              /* c_in * kernel */
    int64_t n_planes[3], plane[3];
    size_t channel;          /* floats of a channel's planes */
    size_t image_floats;     /* of all groups: what convolution_by_image wants as its image */
    size_t packed_floats;    /* of all groups' weights */
    const uint32_t *offsets; /* [k]: the caller's, filled by convolution_image_offsets */
    image_tile_fn *tile;
};

/* False if there is nothing to compute, or too much to count. */
bool convolution_image_plan(struct convolution_image *image, const struct image_tiles *tiles,
                            const struct convolution *convolution, int64_t n_groups);

/* Whether the image suits the convolution better than patches or direct loops. */
bool convolution_image_is_better(const struct convolution_image *image);

void convolution_image_offsets(const struct convolution_image *image, uint32_t *offsets);

/* weights: [n_groups][c_out][c_in][kernel] of f32 or f16, at any address; packed: [n_groups][n_blocks][k][rows]. */
void convolution_image_pack(const struct convolution_image *image, const void *weights, bool is_f16,
                            float *packed);

/* One batch element: in [n_groups][c_in][in], out [n_groups][c_out][out]. The same bytes for any team.
 * memory: image_floats. */
void convolution_by_image(const struct convolution_image *image, const float *in,
                          const float *packed, float *out, float *memory, struct team *team);

#endif
