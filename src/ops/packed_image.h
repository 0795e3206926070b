/* Convolutions over an image (kernels/convolution_image.h) with constant filters, packed once for
 * all plans and sessions of the model: what Convolution and its transpose share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PACKED_IMAGE_H
#define IRRUN_OPS_PACKED_IMAGE_H

#include "kernels/convolution_image.h"
#include "ops/op.h"

struct packed_image {
    struct convolution_image image;
    const float *filters; /* NULL: not packed */
};

/* For op_def.packs and prepare: whether a convolution of input 0 with input 1, one group of which
 * is given, is to be done so; image is then planned. */
bool packed_image_is_wanted(const struct prepare *prepare, const struct convolution *convolution,
                            int64_t n_groups, bool is_transposed, struct convolution_image *image);

/* Packs the filters for the planned image; asks for scratch memory. */
bool packed_image_pack(struct prepare *prepare, struct packed_image *packed);

/* All batch elements of a step. */
void packed_image_run(const struct packed_image *packed, const struct step *step,
                      int64_t n_batches);

#endif
