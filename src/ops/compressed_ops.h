/* Ops with a constant that stays as it is stored, which no IR file names: plan/compressed_weights.h
 * puts them in the place of MatMul and Gather and of the ops that would expand the constant.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_COMPRESSED_OPS_H
#define IRRUN_OPS_COMPRESSED_OPS_H

#include "kernels/compressed_gemm.h"
#include "ops/op.h"

/* A constant of n rows of k elements, with what it is expanded by. */
struct compressed_attrs {
    size_t n, k, group;
    bool is_transposed;                     /* it is stored as [k][n] */
    enum irrun_dtype dtype;                 /* of what it stands for */
    uint32_t constant, scales, zero_points; /* which inputs they are; NO_ID: there are none */
    size_t scale_row_step, scale_group_step, zero_row_step, zero_group_step;
    bool gives_zeros; /* of a Gather: of indices that are out of range, rather than an error */
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
