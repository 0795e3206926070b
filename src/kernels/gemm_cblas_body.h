/* Products by CBLAS for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_float.h instead"
#endif

static bool NAME(multiply_vector)(const PRODUCT *p)
{
    /* Computes y = op(M) x. M is A if C is one column, and B transposed if C is one row. */
    bool is_column = p->n == 1;
    bool transposed = is_column ? p->a_transposed : !p->b_transposed;
    const T *matrix = is_column ? p->a : p->b, *x = is_column ? p->b : p->a;
    size_t ld = is_column ? p->lda : p->ldb, n_out = is_column ? p->m : p->n;
    size_t incx = is_column ? (p->b_transposed ? 1 : p->ldb) : (p->a_transposed ? p->lda : 1);
    size_t incy = is_column ? p->ldc : 1;
    size_t rows = transposed ? p->k : n_out, columns = transposed ? n_out : p->k;
    int ld_int;
    if (incx > INT_MAX || incy > INT_MAX || !leading_dimension(ld, columns, rows, &ld_int))
        return false;
    blas.NAME(gemv)(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, (int)rows, (int)columns,
                    1, matrix, ld_int, x, (int)incx, p->is_added ? 1 : 0, p->c, (int)incy);
    return true;
}

static bool NAME(multiply_matrix)(const PRODUCT *p)
{
    int lda, ldb, ldc;
    if (!leading_dimension(p->lda, p->a_transposed ? p->m : p->k, p->a_transposed ? p->k : p->m,
                           &lda) ||
        !leading_dimension(p->ldb, p->b_transposed ? p->k : p->n, p->b_transposed ? p->n : p->k,
                           &ldb) ||
        !leading_dimension(p->ldc, p->n, p->m, &ldc))
        return false;
    blas.NAME(gemm)(CblasRowMajor, p->a_transposed ? CblasTrans : CblasNoTrans,
                    p->b_transposed ? CblasTrans : CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, 1,
                    p->a, lda, p->b, ldb, p->is_added ? 1 : 0, p->c, ldc);
    return true;
}

void NAME(gemm_cblas)(const PRODUCT *product)
{
    bool is_done = false;
    if (product->m > 0 && product->n > 0 && product->k > 0 &&
        fits_int(product->m, product->n, product->k) && has_blas())
        is_done = product->m == 1 || product->n == 1 ? NAME(multiply_vector)(product)
                                                     : NAME(multiply_matrix)(product);
    if (!is_done)
        NAME(gemm_plain)(product);
}
