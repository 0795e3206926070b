/* Vectorized element-wise loops over f32. Results equal those of binary_scalar and unary_scalar bit
 * for bit, except that functions that are NEAR (elementwise.def) are within 4 ulp or 1e-9, and that
 * NaN may have other bits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ELEMENTWISE_F32_H
#define IRRUN_KERNELS_ELEMENTWISE_F32_H

#include "kernels/binary.h"
#include "kernels/unary.h"

/* Which operands have as many elements as the output; the other operand is a scalar. */
enum operand_form { FORM_VECTOR_VECTOR, FORM_VECTOR_SCALAR, FORM_SCALAR_VECTOR, N_OPERAND_FORMS };

/* An entry is NULL if there is no vectorized loop. The loops never fail. */
struct elementwise_kernels {
    binary_fn *binary[BINARY_N_OPERATIONS][N_OPERAND_FORMS];
    unary_fn *unary[UNARY_N_OPERATIONS];
};

#endif
