/* The loops of normalisations: deviations from a mean, and affine maps. Of f32 and f64; computed in
 * double.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_NORMALIZE_H
#define IRRUN_KERNELS_NORMALIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "irrun.h"

/* sums[0] += (in[i] - means[0])^2 for all i (into_one), or sums[i] += (in[i] - means[i])^2. */
typedef void deviations_fn(double *sums, const double *means, bool into_one, const void *in,
                           size_t n);
deviations_fn *deviations_scalar(enum irrun_dtype dtype);

/* out[i] = (in[i] - center) * scale + shift; out may be in. */
struct affine {
    double center, scale, shift;
};
typedef void affine_fn(const struct affine *affine, const void *in, void *out, size_t n);
affine_fn *affine_scalar(enum irrun_dtype dtype);

/* out[i] = (in[i] - centers[i]) * scales[i]; out may be in. */
typedef void affine_each_fn(const double *centers, const double *scales, const void *in, void *out,
                            size_t n);
affine_each_fn *affine_each_scalar(enum irrun_dtype dtype);

#endif
