/* Multiplies 32-bit integers by a constant matrix whose elements fit in 8 bits, as in quantized
 * models (kernels/gemm_int8.h). The range of the first operand is checked at run time, so the
 * results always equal those of gemm_integer.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INTEGER_MATRIX_H
#define IRRUN_OPS_INTEGER_MATRIX_H

#include "ops/product.h"

struct integer_matrix {
    const struct int8_kernels *kernels; /* NULL: not packed */
    const int8_t *b;                    /* packed; NULL if an element does not fit in 8 bits */
    int32_t b_zero_point;               /* subtracted from all elements before packing */
    const int32_t *column_sums;         /* of b, padded with zeros to a whole INT8_GROUP */
    const void *unpacked;               /* if b is NULL: a copy of the matrix, not packed */
    size_t n_parts;                     /* parts of the product for the thread pool */
};

/* Returns whether to pack the constant input 1 for a product with input 0. Called by
 * op_def.prepacks. */
bool integer_matrix_should_pack(const struct prepare *prepare);

/* Packs input 1 and requests scratch memory. Called by prepare. */
bool integer_matrix_pack(struct prepare *prepare, const struct product *product,
                         struct integer_matrix *matrix);

/* Computes c [m][n] from a [m][k]. */
void integer_matrix_run(const struct integer_matrix *matrix, const struct product *product,
                        const void *a, void *c, const struct step *step);

#endif
