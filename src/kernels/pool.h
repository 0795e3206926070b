/* Poolings of one channel: input [in], output [out], sizes those of the window.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_POOL_H
#define IRRUN_KERNELS_POOL_H

#include "irrun.h"
#include "kernels/sliding_window.h"

/* The largest element that each window sees, the first of equals; NaN is passed over. `places` gets
 * its index in the channel, unless it is NULL. A window that sees nothing gives the lowest finite
 * number, place 0. */
typedef void max_pool_fn(const struct window *window, const void *in, void *out, int64_t *places);
max_pool_fn *max_pool_scalar(enum irrun_dtype dtype);

/* Means; pads count as zeros unless exclude_pad. The mean of nothing is 0. */
typedef void avg_pool_fn(const struct window *window, bool exclude_pad, const void *in, void *out);
avg_pool_fn *avg_pool_scalar(enum irrun_dtype dtype);

#endif
