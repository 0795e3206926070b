/* Vectorized element-wise loops over f32 and, for Select, over any 32-bit type. Results equal those
 * of binary_scalar, unary_scalar and select_x32_scalar bit for bit. Exceptions: Sigmoid and Tanh
 * are within 4 ulp or 1e-9, and NaN may have other bits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ELEMENTWISE_F32_H
#define IRRUN_KERNELS_ELEMENTWISE_F32_H

#include "kernels/binary.h"
#include "kernels/unary.h"

/* Which operands have as many elements as the output; the other operand is a scalar. */
enum operand_form { FORM_VECTOR_VECTOR, FORM_VECTOR_SCALAR, FORM_SCALAR_VECTOR, N_OPERAND_FORMS };

/* Computes out[i] = condition[i] ? then[i] : else[i]. Any byte that is not zero is true. out may be
 * an operand. */
typedef void select_flat_fn(const void *condition, const void *then_values, const void *else_values,
                            void *out, size_t n);

/* An entry is NULL if there is no vectorized loop. The loops never fail. */
struct elementwise_kernels {
    binary_fn *binary[BINARY_N_OPERATIONS][N_OPERAND_FORMS];
    unary_fn *unary[UNARY_N_OPERATIONS];
    select_flat_fn *select[2][2]; /* [then is a vector][else is a vector] */
};

#endif
