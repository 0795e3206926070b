/* Dense products of integers by plain loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/gemm_integer.h"

#include <stdint.h>

/* W computes modulo 2^32 or 2^64, of which T keeps the low bits. */
#define DEFINE_GEMM(T, W)                                                                          \
    static void multiply_##T(const struct gemm_integer *p)                                         \
    {                                                                                              \
        size_t a_row = p->a_transposed ? 1 : p->k, a_step = p->a_transposed ? p->m : 1;            \
        size_t b_row = p->b_transposed ? 1 : p->n, b_step = p->b_transposed ? p->k : 1;            \
        for (size_t i = 0; i < p->m; i++) {                                                        \
            for (size_t j = 0; j < p->n; j++) {                                                    \
                W sum = 0;                                                                         \
                for (size_t k = 0; k < p->k; k++)                                                  \
                    sum += (W)((const T *)p->a)[i * a_row + k * a_step] *                          \
                           ((const T *)p->b)[k * b_row + j * b_step];                              \
                ((T *)p->c)[i * p->n + j] = (T)sum;                                                \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_GEMM(uint8_t, uint32_t)
DEFINE_GEMM(uint16_t, uint32_t)
DEFINE_GEMM(uint32_t, uint32_t)
DEFINE_GEMM(uint64_t, uint64_t)

void gemm_integer(const struct gemm_integer *product, size_t element_bytes)
{
    switch (element_bytes) {
    case 1:
        multiply_uint8_t(product);
        break;
    case 2:
        multiply_uint16_t(product);
        break;
    case 4:
        multiply_uint32_t(product);
        break;
    default:
        multiply_uint64_t(product);
        break;
    }
}
