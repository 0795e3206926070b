/* Poolings whose windows are parts of the input of about equal size. One channel: input [in],
 * output [out].
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ADAPTIVE_POOL_H
#define IRRUN_KERNELS_ADAPTIVE_POOL_H

#include "irrun.h"

/* Outermost first; fewer dimensions stand at the end, after dimensions of 1. Output position o sees
 * the input from floor(o * in / out) to before ceil((o + 1) * in / out). No input dimension is
 * 0. */
struct adaptive_pool {
    int64_t in[3], out[3];
};

/* The largest element, the first of equals; NaN is passed over unless it comes first. places: its
 * index in the channel. */
void adaptive_max_pool(enum irrun_dtype dtype, const struct adaptive_pool *pool, const void *in,
                       void *out, int64_t *places);
void adaptive_avg_pool(enum irrun_dtype dtype, const struct adaptive_pool *pool, const void *in,
                       void *out);

#endif
