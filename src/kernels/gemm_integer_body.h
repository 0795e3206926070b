/* The loops of gemm_integer.c for one type of type_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAME
#error "include kernels/each_unsigned.h instead"
#endif

static void NAME(multiply)(const struct gemm_integer *p)
{
    size_t a_row = p->a_transposed ? 1 : p->k, a_step = p->a_transposed ? p->m : 1;
    size_t b_row = p->b_transposed ? 1 : p->n, b_step = p->b_transposed ? p->k : 1;
    const T *a = p->a, *b = p->b;
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->n; j++) {
            WRAP_T sum = 0;
            for (size_t k = 0; k < p->k; k++)
                sum += (WRAP_T)a[i * a_row + k * a_step] * b[k * b_row + j * b_step];
            ((T *)p->c)[i * p->n + j] = (T)sum;
        }
    }
}
