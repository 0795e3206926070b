/* Softmax and its logarithm along the middle of [n_outer][n][n_inner].
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SOFTMAX_H
#define IRRUN_KERNELS_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

struct softmax {
    size_t n_outer, n, n_inner;
    bool is_log;
};

/* out may be in. A row with a NaN, or of only -inf, is NaN. softmax_f32 is within 1e-6 of the exact
 * result for differences from the maximum rounded to f32: relative for softmax, absolute for a
 * logarithm below 1. */
typedef void softmax_f32_fn(const struct softmax *softmax, const float *in, float *out);
void softmax_f64(const struct softmax *softmax, const double *in, double *out);

#endif
