/* AdaptiveMaxPool and AdaptiveAvgPool: divide the input into windows of nearly equal size. Each
 * call pools one channel, from input [in] to output [out].
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ADAPTIVE_POOL_H
#define IRRUN_KERNELS_ADAPTIVE_POOL_H

#include "irrun.h"

/* Sizes of the input and the output, outermost dimension first. Tensors of fewer dimensions are
 * padded with leading 1s. In each dimension, output position o covers the input positions from
 * floor(o * in / out) to ceil((o + 1) * in / out) - 1. No input dimension is 0. */
struct adaptive_pool {
    int64_t in[3], out[3];
};

/* Writes the maximum of every window to out, and the index of the maximum in the channel to
 * indices. The first of equal elements wins. NaN is skipped unless it is the first element of the
 * window. */
void adaptive_max_pool(enum irrun_dtype dtype, const struct adaptive_pool *pool, const void *in,
                       void *out, int64_t *indices);
void adaptive_avg_pool(enum irrun_dtype dtype, const struct adaptive_pool *pool, const void *in,
                       void *out);

#endif
