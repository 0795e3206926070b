/* Dense products of integer matrices. Sums wrap, so signed and unsigned types of one width use the
 * same loop.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_GEMM_INTEGER_H
#define IRRUN_KERNELS_GEMM_INTEGER_H

#include <stdbool.h>
#include <stddef.h>

/* C[m][n] = op(A)[m][k] * op(B)[k][n] of dense matrices; see struct gemm_f32. */
struct gemm_integer {
    size_t m, n, k;
    const void *a; /* [m][k], or [k][m] if a_transposed */
    bool a_transposed;
    const void *b; /* [k][n], or [n][k] if b_transposed */
    bool b_transposed;
    void *c; /* [m][n] */
};

/* Computes a product. element_bytes is 1, 2, 4 or 8. */
void gemm_integer(const struct gemm_integer *product, size_t element_bytes);

#endif
