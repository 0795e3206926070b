/* Element-wise operations with one or two operands: one loop per operation and type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ELEMENTWISE_H
#define IRRUN_KERNELS_ELEMENTWISE_H

#include "irrun.h"

#define UNARY_N_PARAMETERS 2

/* Computes out[i] = f(in[i]); out may be in. p holds the parameters p0 and p1 of
 * elementwise.def. */
typedef void unary_fn(const void *in, void *out, size_t n, const double p[UNARY_N_PARAMETERS]);

/* Computes out[i] = f(a[i], b[i]); out may be a or b. Returns false if an integer was divided by
 * zero. */
typedef bool binary_fn(const void *a, const void *b, void *out, size_t n);

enum unary_operation {
#define UNARY_LOOP(name, loops, out, expression) UNARY_##name,
#include "kernels/elementwise.def"
    UNARY_N_OPERATIONS
};

enum binary_operation {
#define BINARY_LOOP(name, loops, out, expression) BINARY_##name,
#include "kernels/elementwise.def"
    BINARY_N_OPERATIONS
};

/* Return whether the results are booleans (bytes of 0 or 1) rather than of the operands' type. */
bool unary_gives_boolean(enum unary_operation operation);
bool binary_gives_boolean(enum binary_operation operation);

/* Return the plain loop for operands of this type; NULL if none exists (as for f16 and bf16). */
unary_fn *unary_scalar(enum unary_operation operation, enum irrun_dtype dtype);
binary_fn *binary_scalar(enum binary_operation operation, enum irrun_dtype dtype);

/* Calls fn on operands that may be scalars: if a_is_array (b_is_array) is false, a (b) points to a
 * single element. operand_bytes and out_bytes are element sizes. Returns what fn returns. */
bool binary_apply(binary_fn *fn, size_t operand_bytes, const void *a, bool a_is_array,
                  const void *b, bool b_is_array, size_t out_bytes, void *out, size_t n);

/* Whether each operand has the size of the output (VECTOR) or is a scalar. */
enum operand_form { FORM_VECTOR_VECTOR, FORM_VECTOR_SCALAR, FORM_SCALAR_VECTOR, N_OPERAND_FORMS };

/* Vectorized loops for f32, which never fail; NULL if an operation has none. Results equal those of
 * the plain loops bit for bit, with two exceptions: results of functions marked NEAR in
 * elementwise.def are within 4 ulp or 1e-9, and the bits of a NaN may differ. */
struct elementwise_kernels {
    binary_fn *binary[BINARY_N_OPERATIONS][N_OPERAND_FORMS];
    unary_fn *unary[UNARY_N_OPERATIONS];
};

#endif
