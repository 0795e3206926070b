/* A constant factor of products, packed once for all plans and sessions of the model; and how any
 * other is packed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_PREPACKED_MATRIX_H
#define IRRUN_OPS_PREPACKED_MATRIX_H

#include "ops/op.h"

/* For op_def.prepacks: whether the constant input `b`, by which input `a` is multiplied, may be
 * packed at all: by its type, the options and the level. */
bool prepacked_matrix_is_allowed(const struct prepare *prepare, uint32_t a, uint32_t b);

/* For op_def.prepacks: whether products of input `a` with n columns that the constant input `b`
 * gives are to be packed ones. */
bool prepacked_matrix_is_wanted(const struct prepare *prepare, uint32_t a, uint32_t b, size_t n);

/* Packs the constant `input`, k x n in memory, or n x k if is_transposed; `rows` is how many rows
 * products will have. */
bool prepacked_matrix_pack(struct prepare *prepare, uint32_t input, size_t k, size_t n,
                           bool is_transposed, size_t rows, struct packed_matrix *packed_b);

/* The layout of a k x n matrix whose products have so many rows; packed_b->is_f16 is given. False
 * if that is too much to count. */
bool packed_matrix_plan(struct packed_matrix *packed_b, const struct gemm_microkernels *kernels,
                        size_t k, size_t n, size_t rows, size_t *size_bytes);

/* Fills some of them from a matrix as prepacked_matrix_pack takes it, at any address; n is that of
 * all. */
void packed_matrix_fill(const struct packed_matrix *packed_b, size_t begin, size_t end,
                        const void *matrix, bool is_f16, size_t n, bool is_transposed, void *data);

#endif
