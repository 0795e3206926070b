/* The interface of dense matrix products with two implementations: plain loops, which are the
 * specification, and the system's CBLAS.
 *
 * The option --gemm selects how products are computed. It does not affect the kernels before and
 * after them (activations, cells, epilogues), which are those of the SIMD level.
 *
 *   plain   gemm_plain_*; the operands are not packed
 *   cblas   gemm_cblas_*; the operands are not packed
 *   packed  packed_gemm.h where packing an f32 operand pays, indirect_convolution.h for
 *           convolutions, gemm_rows_level.c for few rows; otherwise the plain loops
 *   auto    the same, but CBLAS for large products without packed weights, if the library is a
 *           fast one (blas.h)
 *
 * A recurrent op multiplies X by W, for a chunk of time steps at once, and h by R, for every time
 * step (twice per step in a GRU without linear_before_reset). A convolution multiplies the output
 * of im2col by the filters; a transposed convolution multiplies the input by the filters. If a
 * product would be slower for the given sizes, plain and cblas both run the loops of
 * convolution_direct instead.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_GEMM_H
#define IRRUN_KERNELS_GEMM_H

#include <stdbool.h>
#include <stddef.h>

/* C[m][n] = op(A)[m][k] * op(B)[k][n], row-major, or += if is_added. lda, ldb and ldc are the
 * distances between rows in memory, in elements. C overlaps neither A nor B. If k is 0, the product
 * is zero. */
struct gemm_f32 {
    size_t m, n, k;
    const float *a; /* [m][k], or [k][m] if a_transposed */
    size_t lda;
    bool a_transposed;
    const float *b; /* [k][n], or [n][k] if b_transposed */
    size_t ldb;
    bool b_transposed;
    float *c; /* [m][n] */
    size_t ldc;
    bool is_added; /* add to C instead of replacing it */
};

struct gemm_f64 {
    size_t m, n, k;
    const double *a;
    size_t lda;
    bool a_transposed;
    const double *b;
    size_t ldb;
    bool b_transposed;
    double *c;
    size_t ldc;
    bool is_added;
};

typedef void gemm_f32_fn(const struct gemm_f32 *product);
typedef void gemm_f64_fn(const struct gemm_f64 *product);

void gemm_plain_f32(const struct gemm_f32 *product);
void gemm_plain_f64(const struct gemm_f64 *product);
void gemm_cblas_f32(const struct gemm_f32 *product);
void gemm_cblas_f64(const struct gemm_f64 *product);

#endif
