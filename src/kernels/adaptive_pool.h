/* Poolings whose windows are parts of the input of about equal size. Each call pools one channel:
 * input [in], output [out].
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ADAPTIVE_POOL_H
#define IRRUN_KERNELS_ADAPTIVE_POOL_H

#include "irrun.h"

/* Sizes, outermost dimension first. Missing dimensions are leading 1s. Output position o covers the
 * input from floor(o * in / out) up to, but not including, ceil((o + 1) * in / out). No input
 * dimension is 0. */
struct adaptive_pool {
    int64_t in[3], out[3];
};

/* Writes the maximum of every window, and its index in the channel to indices. The first of equal
 * elements wins. NaN is skipped unless it is the first element of the window. */
void adaptive_max_pool(enum irrun_dtype dtype, const struct adaptive_pool *pool, const void *in,
                       void *out, int64_t *indices);
void adaptive_avg_pool(enum irrun_dtype dtype, const struct adaptive_pool *pool, const void *in,
                       void *out);

#endif
