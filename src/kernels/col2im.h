/* col2im, the reverse of im2col: adds columns of patches into an image.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COL2IM_H
#define IRRUN_KERNELS_COL2IM_H

#include "irrun.h"
#include "kernels/sliding_window.h"

/* Adds the columns [kernel][out] of one channel into an image [in], whose first dimension is 1.
 * Each element of the image becomes the sum of all column elements that map to it, or 0. Integers
 * wrap. */
typedef void col2im_fn(const struct window *window, const void *columns, void *image);

/* Returns NULL for f16, bf16 and types that are not numbers. */
col2im_fn *col2im_scalar(enum irrun_dtype dtype);

#endif
