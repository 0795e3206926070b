/* Softmax of scale * in, or the logarithm of it (is_log), along the middle dimension of
 * [n_outer][n][n_inner].
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SOFTMAX_H
#define IRRUN_KERNELS_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>

struct softmax {
    size_t n_outer, n, n_inner;
    bool is_log;
    float scale;
};

/* out may be in. A row that contains a NaN or only -inf becomes NaN. softmax_f32_fn rounds the
 * differences from the maximum to f32. For these rounded differences, its error is at most 1e-6:
 * relative for softmax, absolute for a logarithm below 1. */
typedef void softmax_f32_fn(const struct softmax *softmax, const float *in, float *out);
void softmax_f64(const struct softmax *softmax, const double *in, double *out);

#endif
