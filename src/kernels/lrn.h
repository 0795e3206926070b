/* The loops of local response normalization (LRN): square elements, add neighbours, and divide by a
 * power of the sums.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_LRN_H
#define IRRUN_KERNELS_LRN_H

#include <stddef.h>

#include "irrun.h"

/* Writes out[i] = in[i]^2; `in` is f32 or f64. */
void lrn_square(enum irrun_dtype dtype, const void *in, double *out, size_t n);

/* Adds neighbours along the middle of [n_outer][n][n_inner]: out[…][i][…] is the sum of in[…][j][…]
 * for j from i - reach to i + reach, clipped to 0 … n-1. out does not overlap in. */
void lrn_add_neighbours(const double *in, double *out, size_t n_outer, size_t n, size_t n_inner,
                        size_t reach);

/* out[i] = in[i] / (bias + scale * sums[i])^beta; `in` and `out` are f32 or f64; out may be in. */
struct lrn_power {
    double bias, scale, beta;
};
void lrn_divide(enum irrun_dtype dtype, const struct lrn_power *power, const double *sums,
                const void *in, void *out, size_t n);

#endif
