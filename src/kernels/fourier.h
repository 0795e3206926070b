/* Discrete Fourier transforms of complex rows of any length, in double. A complex number is two
 * doubles.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_FOURIER_H
#define IRRUN_KERNELS_FOURIER_H

#include <stdbool.h>
#include <stddef.h>

#include "irrun.h"

#define FOURIER_MAX_LENGTH ((size_t)1 << 40)

/* Powers of two use radix 2 (Cooley and Tukey 1965). Other lengths are a convolution with a chirp,
 * computed by transforms of length m, a power of two (Bluestein 1970). */
struct fourier {
    size_t n, m;            /* m = n for powers of two */
    const double *twiddles; /* [m / 2], exp(-2 pi i k / m) */
    const double *chirp;    /* [n], exp(-pi i k^2 / n); NULL for powers of two */
    const double *chirp_ft; /* [m], the transform of the conjugated chirp, periodic around 0 */
};

/* Returns the size of the memory of a plan. n is at most FOURIER_MAX_LENGTH. */
size_t fourier_plan_bytes(size_t n);
/* Fills the plan and `memory`, fourier_plan_bytes(n) long, which the plan points to. */
void fourier_plan(struct fourier *plan, size_t n, double *memory);

/* Transforms line [n] in place. The inverse divides by n. scratch has fourier_scratch_bytes. */
size_t fourier_scratch_bytes(size_t n);
void fourier_run(const struct fourier *plan, bool is_inverse, double *line, double *scratch);

/* Convert n numbers of f32 or f64, complex or real, to complex doubles and back. Real numbers are
 * loaded with imaginary parts of 0, and stored without them. */
void fourier_load(enum irrun_dtype dtype, bool is_real, const void *in, double *out, size_t n);
void fourier_store(enum irrun_dtype dtype, bool is_real, const double *in, void *out, size_t n);

#endif
