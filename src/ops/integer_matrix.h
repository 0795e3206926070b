/* Products of 32-bit integers by a constant matrix whose elements are of 8 bits, as quantised
 * models write them (kernels/gemm_int8.h). The first factor is looked at when it is there: results
 * are those of gemm_integer, whatever it holds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INTEGER_MATRIX_H
#define IRRUN_OPS_INTEGER_MATRIX_H

#include "ops/product.h"

struct integer_matrix {
    const struct int8_kernels *kernels; /* NULL: not packed */
    const int8_t *b;                    /* NULL: not of 8 bits, plain is a copy */
    int32_t b_origin;                   /* taken from all elements before they were packed */
    const int32_t *column_sums;         /* of b, of all groups */
    const void *plain;
    size_t n_parts;
};

/* For op_def.prepacks: whether to pack the constant input b for a product with input a. */
bool integer_matrix_is_wanted(const struct prepare *prepare, uint32_t a, uint32_t b);

/* Packs input b of the product; asks for scratch memory. */
bool integer_matrix_pack(struct prepare *prepare, uint32_t b, const struct product *product,
                         struct integer_matrix *matrix);

/* c [m][n] from a [m][k]. */
void integer_matrix_run(const struct integer_matrix *matrix, const struct product *product,
                        const void *a, void *c, const struct step *step);

#endif
