/* Ops that use a constant as it is stored. No IR file has them: plan/compressed_weights.h replaces
 * MatMul and Gather, and the ops that expand the constant, by them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_COMPRESSED_OPS_H
#define IRRUN_OPS_COMPRESSED_OPS_H

#include "kernels/compressed_gemm.h"
#include "ops/op.h"

/* A constant of n rows of k elements, with what it is expanded by. */
struct compressed_attrs {
    size_t n, k, group;
    bool is_transposed;                     /* it is stored as [k][n] */
    enum irrun_dtype dtype;                 /* of the expanded constant */
    uint32_t constant, scales, zero_points; /* indices of inputs, or NO_ID */
    size_t scale_row_step, scale_group_step, zero_row_step, zero_group_step;
    bool gives_zeros; /* Gather: indices that are out of range give zeros, not an error */
};

extern const struct op_def op_compressed_matmul; /* A, the constant, scales, zero points */
extern const struct op_def op_compressed_gather; /* the constant, indices, scales, zero points */

/* Whether the kernels read this type as it is stored. */
bool compressed_type_is(enum irrun_dtype dtype);

/* In prepare: finds the constant in the mapped weights and describes it for the kernels. A
 * transposed one is copied, once for all plans. */
bool compressed_matrix_find(struct prepare *prepare, struct compressed_matrix *matrix);

/* Implements op_def.prepacks: the constant is not expanded to a byte for each element. */
uint32_t compressed_prepacks(const struct prepare *prepare, uint32_t constants);

#endif
