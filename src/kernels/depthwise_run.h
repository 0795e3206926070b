/* Helpers that depthwise.c and depthwise_last.c share to run a plan of depthwise.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_DEPTHWISE_RUN_H
#define IRRUN_KERNELS_DEPTHWISE_RUN_H

#include <math.h>

#include "kernels/depthwise.h"

struct run {
    const struct depthwise *plan;
    const struct depthwise_job *job;
    size_t n_in, n_out, n_taps; /* elements of an input and an output channel; taps of a window */
};

static inline size_t size_minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A range of output positions: slices in [0], rows in [1]. */
struct box {
    int64_t begin[2], end[2];
};

static inline void reset_check(const struct depthwise *plan, float *check)
{
    for (size_t i = 0; i < DEPTHWISE_MAX_LANES; i++)
        check[i] = plan->term == DEPTHWISE_MAXIMA ? INFINITY : 0;
}

/* Returns whether the scalar loops must compute the channel again: a sum is not finite, or the
 * maximum of a window is -inf. */
static inline bool needs_scalar(const struct depthwise *plan, float lane)
{
    return plan->term == DEPTHWISE_MAXIMA ? lane == -INFINITY : isnan(lane);
}

/* Computes all positions of a box. The caller has set the image, the weights and, for products, the
 * adjustment of the tile. */
void depthwise_run_box(const struct depthwise *plan, struct depthwise_tile *tile,
                       const struct box *box, float *out);

/* Runs share `share` of n_shares, with the channels last. */
void depthwise_run_last(const struct run *run, size_t share, size_t n_shares);

#endif
