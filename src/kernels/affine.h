/* Affine maps, the last step of the normalization ops.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_AFFINE_H
#define IRRUN_KERNELS_AFFINE_H

#include <stddef.h>

/* out[i] = (in[i] - center) * scale + shift; out may be in. Computed in double. */
struct affine {
    double center, scale, shift;
};
typedef void affine_fn(const struct affine *affine, const void *in, void *out, size_t n);

/* Computes out[i] = (in[i] - centers[i]) * scales[i]; out may be in. */
typedef void affine_each_fn(const double *centers, const double *scales, const void *in, void *out,
                            size_t n);

struct affine_kernels {
    affine_fn *f32, *f64;
    affine_each_fn *each_f32, *each_f64;
};

#endif
