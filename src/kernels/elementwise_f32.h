/* Element-wise loops over f32 and, for Select, over anything of 32 bits, as vectors compute them:
 * bit for bit what binary_scalar, unary_scalar and select_x32_scalar say, but for Sigmoid and Tanh,
 * which are within 4 units of the last place or 1e-9, and for the bits of a NaN. Knows no shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ELEMENTWISE_F32_H
#define IRRUN_KERNELS_ELEMENTWISE_F32_H

#include "kernels/binary.h"
#include "kernels/unary.h"

/* Which operands have an element for each of the output's; the other one is a single element. */
enum operand_form { FORM_BOTH_MOVE, FORM_LEFT_MOVES, FORM_RIGHT_MOVES, N_OPERAND_FORMS };

/* out[i] = condition[i] ? then[i] : else[i]; any byte that is not zero is true. out may be an
 * operand. */
typedef void select_flat_fn(const void *condition, const void *then_values, const void *else_values,
                            void *out, size_t n);

/* An entry is NULL where there is no such loop. None refuses anything. */
struct elementwise_kernels {
    binary_fn *binary[BINARY_N_OPERATIONS][N_OPERAND_FORMS];
    unary_fn *unary[UNARY_N_OPERATIONS];
    select_flat_fn *select[2][2]; /* [then moves][else moves] */
};

#endif
