/* Dense matrix products with plain loops: the reference for the other implementations. The order in
 * which the terms of an element are added depends on k and on the layout of the operands, not on m
 * or n.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/gemm.h"
#include "kernels/inline.h"

#define LANES 8   /* partial sums of a dot product, which a compiler can keep in vectors */
#define COLUMNS 4 /* dot products that are computed with one pass over a row of A */
#define ROWS 4    /* rows of C that are computed with one pass over a row of B */
#define STRIP 256 /* columns of C computed at a time; ROWS rows of them stay in the L1 cache */

/* ---- B is [n][k]: dot products ----------------------------------------------------------- */

static float sum_lanes(const float *lanes)
{
    float pair_sums[LANES / 2];
    for (int l = 0; l < LANES / 2; l++)
        pair_sums[l] = lanes[l] + lanes[l + LANES / 2];
    return (pair_sums[0] + pair_sums[2]) + (pair_sums[1] + pair_sums[3]);
}

/* Computes the dot products of a and n rows of b, at most COLUMNS. */
ALWAYS_INLINE void compute_dots(const float *a, const float *b, size_t ldb, size_t k, size_t n,
                                float *sums)
{
    float lanes[COLUMNS][LANES] = {{0}};
    size_t i = 0;
    for (; i + LANES <= k; i += LANES)
        for (size_t j = 0; j < n; j++)
            for (size_t l = 0; l < LANES; l++)
                lanes[j][l] += a[i + l] * b[j * ldb + i + l];
    for (size_t j = 0; j < n; j++) {
        sums[j] = sum_lanes(lanes[j]);
        for (size_t rest = i; rest < k; rest++)
            sums[j] += a[rest] * b[j * ldb + rest];
    }
}

static void multiply_by_dots(const struct gemm_f32 *p)
{
    for (size_t j = 0; j < p->n; j += COLUMNS) {
        size_t n = p->n - j < COLUMNS ? p->n - j : COLUMNS;
        for (size_t i = 0; i < p->m; i++) {
            const float *a = p->a + i * p->lda, *b = p->b + j * p->ldb;
            float sums[COLUMNS], *c = p->c + i * p->ldc + j;
            if (n == COLUMNS)
                compute_dots(a, b, p->ldb, p->k, COLUMNS, sums);
            else
                compute_dots(a, b, p->ldb, p->k, n, sums);
            for (size_t q = 0; q < n; q++)
                c[q] = p->is_added ? c[q] + sums[q] : sums[q];
        }
    }
}

/* ---- B is [k][n]: sums of scaled rows of B ----------------------------------------------- */

static void add_scaled(float *restrict c, const float *restrict b, float scale, size_t n)
{
    for (size_t j = 0; j < n; j++)
        c[j] += scale * b[j];
}

static void multiply_strip(const struct gemm_f32 *p, size_t row, size_t column)
{
    size_t n_rows = p->m - row < ROWS ? p->m - row : ROWS;
    size_t n = p->n - column < STRIP ? p->n - column : STRIP;
    size_t a_row = p->a_transposed ? 1 : p->lda, a_step = p->a_transposed ? p->lda : 1;
    const float *a = p->a + row * a_row, *b = p->b + column;
    float *c = p->c + row * p->ldc + column;
    if (!p->is_added)
        for (size_t i = 0; i < n_rows; i++)
            for (size_t j = 0; j < n; j++)
                c[i * p->ldc + j] = 0;
    for (size_t k = 0; k < p->k; k++)
        for (size_t i = 0; i < n_rows; i++)
            add_scaled(c + i * p->ldc, b + k * p->ldb, a[i * a_row + k * a_step], n);
}

static void multiply_by_rows(const struct gemm_f32 *p)
{
    for (size_t column = 0; column < p->n; column += STRIP)
        for (size_t row = 0; row < p->m; row += ROWS)
            multiply_strip(p, row, column);
}

/* ---- any layout ------------------------------------------------------------------------------ */

static void multiply_transposed(const struct gemm_f32 *p)
{
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->n; j++) {
            float sum = 0, *c = p->c + i * p->ldc + j;
            for (size_t k = 0; k < p->k; k++)
                sum += p->a[k * p->lda + i] * p->b[j * p->ldb + k];
            *c = p->is_added ? *c + sum : sum;
        }
    }
}

void gemm_plain_f32(const struct gemm_f32 *product)
{
    if (!product->b_transposed)
        multiply_by_rows(product);
    else if (!product->a_transposed)
        multiply_by_dots(product);
    else
        multiply_transposed(product);
}

void gemm_plain_f64(const struct gemm_f64 *product)
{
    const struct gemm_f64 *p = product;
    size_t a_row = p->a_transposed ? 1 : p->lda, a_step = p->a_transposed ? p->lda : 1;
    size_t b_row = p->b_transposed ? 1 : p->ldb, b_step = p->b_transposed ? p->ldb : 1;
    for (size_t i = 0; i < p->m; i++) {
        double *c = p->c + i * p->ldc;
        for (size_t j = 0; !p->is_added && j < p->n; j++)
            c[j] = 0;
        for (size_t k = 0; k < p->k; k++) {
            double scale = p->a[i * a_row + k * a_step];
            for (size_t j = 0; j < p->n; j++)
                c[j] += scale * p->b[k * b_row + j * b_step];
        }
    }
}
