/* Dense products by the system's CBLAS: the only file that includes <cblas.h>. Which library
 * answers is the administrator's choice; where there is none, plain loops do.
 * SPDX-License-Identifier: Apache-2.0 */
#include <cblas.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>

#include "kernels/blas.h"
#include "kernels/gemm.h"

#ifdef IRRUN_BLAS_LIBRARY
static struct {
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&cblas_sgemv) sgemv;
    __typeof__(&cblas_dgemm) dgemm;
    __typeof__(&cblas_dgemv) dgemv;
} blas;

static void find_all(void)
{
    blas.sgemm = (__typeof__(&cblas_sgemm))blas_function("cblas_sgemm");
    blas.sgemv = (__typeof__(&cblas_sgemv))blas_function("cblas_sgemv");
    blas.dgemm = (__typeof__(&cblas_dgemm))blas_function("cblas_dgemm");
    blas.dgemv = (__typeof__(&cblas_dgemv))blas_function("cblas_dgemv");
}

static bool has_blas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_all);
    return blas.sgemm && blas.sgemv && blas.dgemm && blas.dgemv;
}
#else
static const struct {
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&cblas_sgemv) sgemv;
    __typeof__(&cblas_dgemm) dgemm;
    __typeof__(&cblas_dgemv) dgemv;
} blas = {cblas_sgemm, cblas_sgemv, cblas_dgemm, cblas_dgemv};

static bool has_blas(void)
{
    return true;
}
#endif

/* CBLAS counts in int. */
static bool fits_int(size_t m, size_t n, size_t k)
{
    return m <= INT_MAX && n <= INT_MAX && k <= INT_MAX;
}

/* A leading dimension of at least 1 and of at least a row, as CBLAS demands even where one row is
 * all there is. */
static bool leading(size_t ld, size_t row, size_t n_rows, int *out)
{
    size_t given = n_rows > 1 ? ld : (row > 0 ? row : 1);
    *out = (int)given;
    return given <= INT_MAX;
}

/* One definition for both types: P is the letter in the names of CBLAS. */
#define DEFINE_GEMM(T, suffix, gemm, gemv)                                                         \
    static bool multiply_vector_##suffix(const struct gemm_##suffix *p)                            \
    {                                                                                              \
        /* y = op(M) x: M is A where C is one column, B transposed where C is one row. */          \
        bool is_column = p->n == 1;                                                                \
        bool transposed = is_column ? p->a_transposed : !p->b_transposed;                          \
        const T *matrix = is_column ? p->a : p->b, *x = is_column ? p->b : p->a;                   \
        size_t ld = is_column ? p->lda : p->ldb, n_out = is_column ? p->m : p->n;                  \
        size_t x_step =                                                                            \
            is_column ? (p->b_transposed ? 1 : p->ldb) : (p->a_transposed ? p->lda : 1);           \
        size_t y_step = is_column ? p->ldc : 1;                                                    \
        size_t rows = transposed ? p->k : n_out, columns = transposed ? n_out : p->k;              \
        int ld_int;                                                                                \
        if (x_step > INT_MAX || y_step > INT_MAX || !leading(ld, columns, rows, &ld_int))          \
            return false;                                                                          \
        gemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, (int)rows, (int)columns, 1,    \
             matrix, ld_int, x, (int)x_step, p->is_added ? 1 : 0, p->c, (int)y_step);              \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    static bool multiply_matrix_##suffix(const struct gemm_##suffix *p)                            \
    {                                                                                              \
        int lda, ldb, ldc;                                                                         \
        if (!leading(p->lda, p->a_transposed ? p->m : p->k, p->a_transposed ? p->k : p->m,         \
                     &lda) ||                                                                      \
            !leading(p->ldb, p->b_transposed ? p->k : p->n, p->b_transposed ? p->n : p->k,         \
                     &ldb) ||                                                                      \
            !leading(p->ldc, p->n, p->m, &ldc))                                                    \
            return false;                                                                          \
        gemm(CblasRowMajor, p->a_transposed ? CblasTrans : CblasNoTrans,                           \
             p->b_transposed ? CblasTrans : CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, 1,      \
             p->a, lda, p->b, ldb, p->is_added ? 1 : 0, p->c, ldc);                                \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    void gemm_cblas_##suffix(const struct gemm_##suffix *product)                                  \
    {                                                                                              \
        bool is_done = false;                                                                      \
        if (product->m > 0 && product->n > 0 && product->k > 0 &&                                  \
            fits_int(product->m, product->n, product->k) && has_blas())                            \
            is_done = product->m == 1 || product->n == 1 ? multiply_vector_##suffix(product)       \
                                                         : multiply_matrix_##suffix(product);      \
        if (!is_done)                                                                              \
            gemm_plain_##suffix(product);                                                          \
    }

DEFINE_GEMM(float, f32, blas.sgemm, blas.sgemv)
DEFINE_GEMM(double, f64, blas.dgemm, blas.dgemv)
