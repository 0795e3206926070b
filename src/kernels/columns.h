/* col2im: adds columns of patches back into an image.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_COLUMNS_H
#define IRRUN_KERNELS_COLUMNS_H

#include "irrun.h"
#include "kernels/sliding_window.h"

/* One channel: columns [kernel][out] of a window over the image [in], whose first dimension is 1.
 * Each element of the image becomes the sum of the column elements at its position, or 0. Integers
 * wrap. */
typedef void columns_fn(const struct window *window, const void *columns, void *image);

/* NULL for f16, bf16 and types that are not numbers. */
columns_fn *columns_scalar(enum irrun_dtype dtype);

#endif
