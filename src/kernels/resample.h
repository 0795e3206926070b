/* Resamples along one axis: every output is a weighted sum of inputs, whose indices and weights the
 * caller computes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_RESAMPLE_H
#define IRRUN_KERNELS_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

/* The taps of an output are the inputs of its weighted sum: output i has taps first[i] ...
 * first[i + 1] - 1, and tap k is input index[k] times weight[k]. An output without taps is 0. */
struct taps {
    size_t n_in, n_out;
    size_t *first; /* [n_out + 1] */
    size_t *index; /* 0 ... n_in - 1 */
    double *weight;
};

/* Resample `in` [n_outer][n_in][n_inner] to `out` [n_outer][n_out][n_inner], which do not overlap.
 * Sums are in double. */
void resample_f32(const struct taps *taps, size_t n_outer, size_t n_inner, const float *in,
                  float *out);
void resample_f64(const struct taps *taps, size_t n_outer, size_t n_inner, const double *in,
                  double *out);

#endif
