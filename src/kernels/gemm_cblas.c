/* Dense matrix products by the system's CBLAS; by plain loops if the library cannot be loaded. This
 * is the only file that includes <cblas.h>.
 * SPDX-License-Identifier: Apache-2.0 */
#include <cblas.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>

#include "kernels/blas.h"
#include "kernels/gemm.h"

struct blas_functions {
    __typeof__(&cblas_sgemm) gemm_f32;
    __typeof__(&cblas_sgemv) gemv_f32;
    __typeof__(&cblas_dgemm) gemm_f64;
    __typeof__(&cblas_dgemv) gemv_f64;
};

#ifdef IRRUN_BLAS_LIBRARY
static struct blas_functions blas;

static void load_functions(void)
{
    blas.gemm_f32 = (__typeof__(&cblas_sgemm))blas_function("cblas_sgemm");
    blas.gemv_f32 = (__typeof__(&cblas_sgemv))blas_function("cblas_sgemv");
    blas.gemm_f64 = (__typeof__(&cblas_dgemm))blas_function("cblas_dgemm");
    blas.gemv_f64 = (__typeof__(&cblas_dgemv))blas_function("cblas_dgemv");
}

static bool has_blas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_functions);
    return blas.gemm_f32 && blas.gemv_f32 && blas.gemm_f64 && blas.gemv_f64;
}
#else
static const struct blas_functions blas = {cblas_sgemm, cblas_sgemv, cblas_dgemm, cblas_dgemv};

static bool has_blas(void)
{
    return true;
}
#endif

/* Returns whether the sizes fit into int, as CBLAS requires. */
static bool fits_int(size_t m, size_t n, size_t k)
{
    return m <= INT_MAX && n <= INT_MAX && k <= INT_MAX;
}

/* Writes the leading dimension to pass to CBLAS, which must be at least 1 and at least the row
 * length, even for a single row. Returns false if it does not fit into int. */
static bool leading_dimension(size_t ld, size_t row, size_t n_rows, int *out)
{
    size_t given = n_rows > 1 ? ld : (row > 0 ? row : 1);
    *out = (int)given;
    return given <= INT_MAX;
}

#define PRODUCT struct NAME(gemm)
#define BODY "kernels/gemm_cblas_body.h"
#include "kernels/each_float.h"
