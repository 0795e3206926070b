/* GEMM for few rows of A. Does not pack B, because packing would take longer than it saves. A must
 * not be transposed. The order of additions depends only on k, b_transposed and the CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/level.h"

#define COLUMNS 4 /* dot products computed at a time; vec_store_sums takes four */
#define ROWS 2    /* rows of C that are computed with one pass over a row of B */
#define VECTORS 4 /* vectors of a row of C in registers */
#define DEPTH 64  /* rows of B per block, which stays in L1: 24 KB if B has 96 columns */

/* The prefetch distance. On Sapphire Rapids, attention reads a KV cache of 8192 positions at 8 GB/s
 * without prefetching, and at 13 GB/s with a distance of 2 or 4 KB. */
#define AHEAD_BYTES 4096

ALWAYS_INLINE void prefetch(const float *at)
{
    __builtin_prefetch((const void *)((uintptr_t)at + AHEAD_BYTES));
}

/* ---- B is [n][k]: dot products --------------------------------------------------------------- */

/* Computes the dot products of a and n_columns rows of b. Always computes COLUMNS sums, so that the
 * order of additions is the same; missing rows are replaced by the first row. is_first: the rows of
 * b are not in the cache yet. */
ALWAYS_INLINE void compute_dots(const float *a, const float *b, size_t ldb, size_t k,
                                size_t n_columns, const bool is_first, float sums[COLUMNS])
{
    vec parts[COLUMNS];
    const float *columns[COLUMNS];
    size_t i = 0;
    UNROLL
    for (size_t j = 0; j < COLUMNS; j++) {
        parts[j] = vec_zero();
        columns[j] = b + (j < n_columns ? j : 0) * ldb;
    }
    for (; i + VECTOR_LANES <= k; i += VECTOR_LANES) {
        vec x = vec_load(a + i);
        UNROLL
        for (size_t j = 0; j < COLUMNS && is_first; j++)
            prefetch(columns[j] + i);
        UNROLL
        for (size_t j = 0; j < COLUMNS; j++)
            parts[j] = vec_fma(x, vec_load(columns[j] + i), parts[j]);
    }
    if (i < k) {
        vec x = vec_load_first(a + i, k - i);
        UNROLL
        for (size_t j = 0; j < COLUMNS; j++)
            parts[j] = vec_fma(x, vec_load_first(columns[j] + i, k - i), parts[j]);
    }
    vec_store_sums(sums, parts[0], parts[1], parts[2], parts[3]);
}

static void multiply_by_dots(const struct gemm_f32 *p)
{
    for (size_t j = 0; j < p->n; j += COLUMNS) {
        size_t n = p->n - j < COLUMNS ? p->n - j : COLUMNS;
        for (size_t i = 0; i < p->m; i++) {
            float sums[COLUMNS], *c = p->c + i * p->ldc + j;
            if (i == 0)
                compute_dots(p->a, p->b + j * p->ldb, p->ldb, p->k, n, true, sums);
            else
                compute_dots(p->a + i * p->lda, p->b + j * p->ldb, p->ldb, p->k, n, false, sums);
            for (size_t q = 0; q < n; q++)
                c[q] = p->is_added ? c[q] + sums[q] : sums[q];
        }
    }
}

/* ---- B is [k][n]: sums of scaled rows of B --------------------------------------------------- */

/* Adds the products of one row of B to n_rows rows and n_vectors vectors of C; the last vector has
 * `last` lanes. */
ALWAYS_INLINE void add_scaled(vec sums[ROWS][VECTORS], const float *a, size_t lda, const float *b,
                              const size_t n_rows, const size_t n_vectors, size_t last)
{
    UNROLL
    for (size_t v = 0; v < n_vectors; v++) {
        vec x = vec_load_n(b + v * VECTOR_LANES, v + 1 < n_vectors ? VECTOR_LANES : last);
        prefetch(b + v * VECTOR_LANES);
        UNROLL
        for (size_t r = 0; r < n_rows; r++)
            sums[r][v] = vec_fma(vec_set1(a[r * lda]), x, sums[r][v]);
    }
}

/* Computes n_rows rows of n_vectors vectors of C, from [i][j] on. Even and odd terms have separate
 * sums, so that an addition need not wait for the previous one. */
ALWAYS_INLINE void multiply_tile(const struct gemm_f32 *p, size_t i, size_t j, const size_t n_rows,
                                 const size_t n_vectors, size_t last)
{
    vec even[ROWS][VECTORS], odd[ROWS][VECTORS];
    const float *a = p->a + i * p->lda, *b = p->b + j;
    size_t k = 0;
    UNROLL
    for (size_t s = 0; s < n_rows * n_vectors; s++)
        even[s / n_vectors][s % n_vectors] = odd[s / n_vectors][s % n_vectors] = vec_zero();
    for (; k + 2 <= p->k; k += 2) {
        add_scaled(even, a + k, p->lda, b + k * p->ldb, n_rows, n_vectors, last);
        add_scaled(odd, a + k + 1, p->lda, b + (k + 1) * p->ldb, n_rows, n_vectors, last);
    }
    if (k < p->k)
        add_scaled(even, a + k, p->lda, b + k * p->ldb, n_rows, n_vectors, last);
    UNROLL
    for (size_t s = 0; s < n_rows * n_vectors; s++) {
        size_t r = s / n_vectors, v = s % n_vectors, n = v + 1 < n_vectors ? VECTOR_LANES : last;
        float *to = p->c + (i + r) * p->ldc + j + v * VECTOR_LANES;
        vec y = vec_add(even[r][v], odd[r][v]);
        if (p->is_added)
            y = vec_add(vec_load_n(to, n), y);
        vec_store_n(to, y, n);
    }
}

ALWAYS_INLINE void multiply_rows(const struct gemm_f32 *p, size_t i, const size_t n_rows)
{
    size_t j = 0;
    for (; j + VECTORS * VECTOR_LANES <= p->n; j += VECTORS * VECTOR_LANES)
        multiply_tile(p, i, j, n_rows, VECTORS, VECTOR_LANES);
    for (; j + VECTOR_LANES <= p->n; j += VECTOR_LANES)
        multiply_tile(p, i, j, n_rows, 1, VECTOR_LANES);
    if (j < p->n)
        multiply_tile(p, i, j, n_rows, 1, p->n - j);
}

static void multiply_block(const struct gemm_f32 *p)
{
    size_t i = 0;
    for (; i + ROWS <= p->m; i += ROWS)
        multiply_rows(p, i, ROWS);
    for (; i < p->m; i++)
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
