/* GEMM for few rows of A. Does not pack B, because packing would take longer than it saves. A must
 * not be transposed. The order of additions depends only on k, b_transposed and the CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

/* The prefetch distance, two pages. Prefetches only into L2, because L2 can have more misses in
 * flight than L1. On Zen 4, a thread reads the keys and values of attention at 20 to 30 GB/s; with
 * prefetches into L1, it reads them at 13 GB/s. */
#define AHEAD_BYTES 8192

ALWAYS_INLINE void prefetch(const float *at)
{
    __builtin_prefetch((const void *)((uintptr_t)at + AHEAD_BYTES), 0, 2);
}

/* Sizes of the largest tiles of C; vec_store_sums adds up four dot products. */
enum { MAX_ROWS = VECTOR_REGISTERS >= 32 ? 4 : 2, VECTORS = 4, COLUMNS = 4 };
#define DEPTH 64 /* rows of B per block, which stays in L1: 24 KB if B has 96 columns */
enum { LINE = 64 / sizeof(float) }; /* elements per cache line */

/* ---- B is [n][k]: dot products --------------------------------------------------------------- */

/* Adds the products of one vector of each of n_rows rows of A and COLUMNS rows of B. */
ALWAYS_INLINE void add_dots(vec parts[MAX_ROWS][COLUMNS], const float *a, size_t lda,
                            const float *const columns[COLUMNS], size_t at, size_t n_lanes,
                            const size_t n_rows)
{
    UNROLL
    for (size_t j = 0; j < COLUMNS; j++) {
        vec y = vec_load_n(columns[j] + at, n_lanes);
        UNROLL
        for (size_t r = 0; r < n_rows; r++)
            parts[r][j] = vec_fma(vec_load_n(a + r * lda + at, n_lanes), y, parts[r][j]);
    }
}

/* Computes n_rows rows and n_columns columns of C, from [i][j] on. Always computes COLUMNS sums, so
 * that the order of additions is the same; missing columns are replaced by the first one. */
ALWAYS_INLINE void multiply_columns(const struct gemm_f32 *p, size_t i, size_t j, size_t n_columns,
                                    const size_t n_rows)
{
    vec parts[MAX_ROWS][COLUMNS];
    const float *columns[COLUMNS], *a = p->a + i * p->lda;
    size_t k = 0;
    UNROLL
    for (size_t q = 0; q < COLUMNS; q++) {
        columns[q] = p->b + (j + (q < n_columns ? q : 0)) * p->ldb;
        UNROLL
        for (size_t r = 0; r < n_rows; r++)
            parts[r][q] = vec_zero();
    }
    for (; k + LINE <= p->k; k += LINE) {
        UNROLL
        for (size_t q = 0; q < COLUMNS; q++)
            prefetch(columns[q] + k);
        UNROLL
        for (size_t v = 0; v < LINE; v += VECTOR_LANES)
            add_dots(parts, a, p->lda, columns, k + v, VECTOR_LANES, n_rows);
    }
    for (; k < p->k; k += VECTOR_LANES)
        add_dots(parts, a, p->lda, columns, k, p->k - k < VECTOR_LANES ? p->k - k : VECTOR_LANES,
                 n_rows);
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        float sums[COLUMNS], *c = p->c + (i + r) * p->ldc + j;
        vec_store_sums(sums, parts[r][0], parts[r][1], parts[r][2], parts[r][3]);
        for (size_t q = 0; q < n_columns; q++)
            c[q] = p->is_added ? c[q] + sums[q] : sums[q];
    }
}

static void multiply_by_dots(const struct gemm_f32 *p)
{
    for (size_t j = 0; j < p->n; j += COLUMNS) {
        size_t n = p->n - j < COLUMNS ? p->n - j : COLUMNS, i = 0;
        for (; i + MAX_ROWS <= p->m; i += MAX_ROWS)
            multiply_columns(p, i, j, n, MAX_ROWS);
        for (; i + 2 <= p->m; i += 2)
            multiply_columns(p, i, j, n, 2);
        if (i < p->m)
            multiply_columns(p, i, j, n, 1);
    }
}

/* ---- B is [k][n]: sums of scaled rows of B --------------------------------------------------- */

/* Adds the products of one row of B to n_rows rows and n_vectors vectors of C; the last vector has
 * `last` lanes. */
ALWAYS_INLINE void add_scaled(vec sums[MAX_ROWS][VECTORS], const float *a, size_t lda,
                              const float *b, const size_t n_rows, const size_t n_vectors,
                              size_t last)
{
    UNROLL
    for (size_t v = 0; v < n_vectors; v++) {
        vec x = vec_load_n(b + v * VECTOR_LANES, v + 1 < n_vectors ? VECTOR_LANES : last);
        if (v * VECTOR_LANES % LINE == 0)
            prefetch(b + v * VECTOR_LANES);
        UNROLL
        for (size_t r = 0; r < n_rows; r++)
            sums[r][v] = vec_fma(vec_set1(a[r * lda]), x, sums[r][v]);
    }
}

/* Computes n_rows rows of n_vectors vectors of C, from [i][j] on. Both halves of the terms have
 * sums of their own. Small tiles add to both in turn, so that an addition need not wait for the
 * previous one. */
ALWAYS_INLINE void multiply_tile(const struct gemm_f32 *p, size_t i, size_t j, const size_t n_rows,
                                 const size_t n_vectors, size_t last)
{
    const bool is_small = 2 * n_rows * n_vectors < VECTOR_REGISTERS;
    vec sums[2][MAX_ROWS][VECTORS];
    const float *a = p->a + i * p->lda, *b = p->b + j;
    size_t half = p->k / 2, k;
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            sums[0][r][v] = sums[1][r][v] = vec_zero();
    }
    for (k = 0; k < half; k++) {
        add_scaled(sums[0], a + k, p->lda, b + k * p->ldb, n_rows, n_vectors, last);
        if (is_small)
            add_scaled(sums[1], a + half + k, p->lda, b + (half + k) * p->ldb, n_rows, n_vectors,
                       last);
    }
    for (k = is_small ? 2 * half : half; k < p->k; k++)
        add_scaled(sums[1], a + k, p->lda, b + k * p->ldb, n_rows, n_vectors, last);
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++) {
            size_t n = v + 1 < n_vectors ? VECTOR_LANES : last;
            float *to = p->c + (i + r) * p->ldc + j + v * VECTOR_LANES;
            vec y = vec_add(sums[0][r][v], sums[1][r][v]);
            if (p->is_added)
                y = vec_add(vec_load_n(to, n), y);
            vec_store_n(to, y, n);
        }
    }
}

ALWAYS_INLINE void multiply_rows(const struct gemm_f32 *p, size_t i, const size_t n_rows)
{
    size_t j = 0;
    for (; j + VECTORS * VECTOR_LANES <= p->n; j += VECTORS * VECTOR_LANES)
        multiply_tile(p, i, j, n_rows, VECTORS, VECTOR_LANES);
    for (; j + 2 * VECTOR_LANES <= p->n; j += 2 * VECTOR_LANES)
        multiply_tile(p, i, j, n_rows, 2, VECTOR_LANES);
    for (; j < p->n; j += VECTOR_LANES)
        multiply_tile(p, i, j, n_rows, 1, p->n - j < VECTOR_LANES ? p->n - j : VECTOR_LANES);
}

static void multiply_block(const struct gemm_f32 *p)
{
    size_t i = 0;
    for (; i + MAX_ROWS <= p->m; i += MAX_ROWS)
        multiply_rows(p, i, MAX_ROWS);
    for (; i + 2 <= p->m; i += 2)
        multiply_rows(p, i, 2);
    if (i < p->m)
        multiply_rows(p, i, 1);
}

/* Multiplies by one block of rows of B at a time. A block is read from memory for the first rows of
 * C, and from L1 for the remaining rows. */
static void multiply_by_rows(const struct gemm_f32 *p)
{
    struct gemm_f32 block = *p;
    size_t left = p->k;
    do {
        block.k = left < DEPTH ? left : DEPTH;
        multiply_block(&block);
        block.a += block.k;
        block.b += block.k * p->ldb;
        block.is_added = true;
        left -= block.k;
    } while (left > 0);
}

void LEVEL_NAME(gemm_rows, LEVEL)(const struct gemm_f32 *product)
{
    if (product->b_transposed)
        multiply_by_dots(product);
    else
        multiply_by_rows(product);
}
