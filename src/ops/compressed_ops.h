/* Internal ops that read a constant as it is stored: compressed, or a large matrix of floats. IR
 * files do not contain them. plan/compressed_weights.c puts them in place of a MatMul or Gather and
 * the ops that expand its constant.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_COMPRESSED_OPS_H
#define IRRUN_OPS_COMPRESSED_OPS_H

#include "kernels/compressed_gemm.h"
#include "ops/op.h"

/* A compressed constant of n rows of k elements. */
struct compressed_attrs {
    size_t n, k, group;                     /* group: elements of a row that share a scale */
    bool is_transposed;                     /* stored as [k][n] */
    enum irrun_dtype dtype;                 /* after expansion */
    uint32_t constant, scales, zero_points; /* indices of inputs, or NO_ID */
    size_t scale_row_stride, scale_group_stride, zero_row_stride, zero_group_stride;
    bool gives_zeros; /* Gather: an index out of range gives zeros instead of an error */
};

extern const struct op_def op_compressed_matmul; /* A, the constant, scales, zero points */
extern const struct op_def op_quantized_matmul;  /* the same inputs, for integers; quantizes A */
extern const struct op_def op_compressed_gather; /* the constant, indices, scales, zero points */

/* Returns whether the kernels expand this type: an integer of 4 or 8 bits, nf4 or f4e2m1. */
bool compressed_type_is_supported(enum irrun_dtype dtype);

/* Finds the constant in the mapped weights and describes it for the kernels. Called by prepare. A
 * transposed constant is copied, once for all plans. */
bool compressed_matrix_find(struct prepare *prepare, struct compressed_matrix *matrix);

/* Shared by op_compressed_matmul and op_quantized_matmul. compressed_matmul_infer sets *m to the
 * number of rows of A. */
extern const struct op_input_def compressed_matmul_inputs[4];
bool compressed_matmul_infer(struct infer *infer, size_t *m);
double compressed_matmul_flops(const struct op *op, struct irrun_tensor *const *in,
                               struct irrun_tensor *const *out);

/* Implements op_def.prepacks, so that the constant is not widened to one byte per element. */
uint32_t compressed_prepacks(const struct prepare *prepare, uint32_t constants);

/* Initializes the struct op_def of either MatMul. */
#define COMPRESSED_MATMUL(state_, infer_, prepare_, run_)                                          \
    {                                                                                              \
        .type = "MatMul", .opset = 1, OP_INPUTS(compressed_matmul_inputs),                         \
        .attrs_size = sizeof(struct compressed_attrs), .state_size = sizeof(state_),               \
        .infer = infer_, .prepacks = compressed_prepacks, .prepare = prepare_, .compute = run_,    \
        .flops = compressed_matmul_flops                                                           \
    }

#endif
