/* Packs constant operands of matrix products, once for all plans and sessions of the model.
 * packed_matrix_plan and packed_matrix_fill also serve operands that are packed in every run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PREPACKED_MATRIX_H
#define IRRUN_OPS_PREPACKED_MATRIX_H

#include "ops/op.h"

/* Returns whether the types, the options and the CPU level allow packing the constant input 1 for a
 * product with input 0. Called by op_def.prepacks. */
bool prepacked_matrix_is_allowed(const struct prepare *prepare);

/* Returns whether to pack the constant input 1, which has n columns, for a product with input 0.
 * Called by op_def.prepacks. */
bool prepacked_matrix_is_wanted(const struct prepare *prepare, size_t n);

/* Returns the type in which the elements of prepacked input i are stored in the model. */
enum weight_type prepare_weight_type(struct prepare *prepare, uint32_t i);

/* Packs the constant `input`, k x n in memory, or n x k if is_transposed; `rows` is the number of
 * rows of the products. */
bool prepacked_matrix_pack(struct prepare *prepare, uint32_t input, size_t k, size_t n,
                           bool is_transposed, size_t rows, struct packed_matrix *packed_b);

/* Plans the layout of a k x n matrix for products of this many rows. The caller sets `type` and
 * `round` of packed_b. Returns false if the size overflows. */
bool packed_matrix_plan(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                        size_t k, size_t n, size_t rows, size_t *size_bytes);

/* Packs panels begin … end - 1. `matrix` is the whole matrix, with n columns and any alignment; see
 * prepacked_matrix_pack for is_transposed. */
void packed_matrix_fill(const struct packed_matrix *packed_b, size_t begin, size_t end,
                        const void *matrix, enum weight_type source, size_t n, bool is_transposed,
                        void *data);

#endif
