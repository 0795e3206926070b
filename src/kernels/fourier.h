/* Discrete Fourier transforms of lines of complex numbers, of any length, in double. Real and
 * imaginary parts are in separate arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_FOURIER_H
#define IRRUN_KERNELS_FOURIER_H

#include <stdbool.h>
#include <stddef.h>

#include "irrun.h"

#define FOURIER_MAX_LENGTH ((size_t)1 << 40)
#define FOURIER_MAX_FACTORS 42 /* enough for any length up to 2^41, which a chirp may need */

/* A plan for length n. If the prime factors of n are at most 7, each factor is one pass (Stockham's
 * algorithm, without digit reversal). Otherwise the transform is a convolution with a chirp,
 * computed by transforms of length m, a power of two (Bluestein 1970). */
struct fourier {
    size_t n, m; /* m = n if there is no chirp */
    size_t n_factors;
    unsigned char factors[FOURIER_MAX_FACTORS]; /* radices of the passes, with product m */
    const double *roots;                        /* [m], exp(-2 pi i k / m) */
    const double *chirp;                        /* [n], exp(-pi i k^2 / n), or NULL */
    const double *chirp_ft; /* [m], the transform of the conjugated chirp at -n < k < n, mod m */
};

/* n lines of complex numbers side by side: number k of line i is re[k * n + i], im[k * n + i]. */
struct fourier_lines {
    size_t n;
    double *re, *im;
};

/* Returns the size of the memory that a plan needs. n is at most FOURIER_MAX_LENGTH. */
size_t fourier_plan_bytes(size_t n);
/* Fills the plan and `memory`, which the plan points to and which has fourier_plan_bytes(n)
 * bytes. */
void fourier_plan(struct fourier *plan, size_t n, double *memory);

/* Returns how many of n_lines lines of n numbers to transform at a time. */
size_t fourier_batch(size_t n, size_t n_lines);

/* Transforms lines of n numbers in place. The inverse divides by n. `scratch` has
 * fourier_scratch_bytes bytes. The result for a line does not depend on the number of lines. */
size_t fourier_scratch_bytes(size_t n, size_t n_lines);
void fourier_run(const struct fourier *plan, bool is_inverse, struct fourier_lines lines,
                 double *scratch);
/* Completes transforms of real lines of n numbers: fills the second half of each line with the
 * complex conjugates of the first half, in reverse. */
void fourier_complete(struct fourier_lines lines, size_t n);

/* Convert n numbers of f32 or f64, complex or real, to doubles and back. Real numbers are loaded
 * with imaginary parts of 0, and stored without them. */
void fourier_load(enum irrun_dtype dtype, bool is_real, const void *in, double *re, double *im,
                  size_t n);
void fourier_store(enum irrun_dtype dtype, bool is_real, const double *re, const double *im,
                   void *out, size_t n);

#endif
