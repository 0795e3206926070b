/* Element-wise functions of one and of two operands: one loop per operation and type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_ELEMENTWISE_H
#define IRRUN_KERNELS_ELEMENTWISE_H

#include "irrun.h"

#define UNARY_N_PARAMETERS 2

/* Computes out[i] = f(in[i]); out may be in. p: p0 and p1 of elementwise.def. */
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

/* Return whether the results are booleans (bytes of 0 or 1) instead of the operands' type. */
bool unary_gives_boolean(enum unary_operation operation);
bool binary_gives_boolean(enum binary_operation operation);

/* Return the plain loop for operands of this type; NULL if there is none (as for f16 and bf16). */
unary_fn *unary_scalar(enum unary_operation operation, enum irrun_dtype dtype);
binary_fn *binary_scalar(enum binary_operation operation, enum irrun_dtype dtype);

/* Calls fn on operands that may be scalars: if a_is_array or b_is_array is false, a or b is a
 * single element. operand_bytes and out_bytes are the sizes of an element. */
bool binary_apply(binary_fn *fn, size_t operand_bytes, const void *a, bool a_is_array,
                  const void *b, bool b_is_array, size_t out_bytes, void *out, size_t n);

/* Which operands have as many elements as the output (VECTOR), and which is a scalar. */
enum operand_form { FORM_VECTOR_VECTOR, FORM_VECTOR_SCALAR, FORM_SCALAR_VECTOR, N_OPERAND_FORMS };

/* Vectorized loops over f32, which never fail. An entry is NULL if there is none. Results equal
 * those of the plain loops bit for bit, except that functions that are NEAR (elementwise.def) are
 * within 4 ulp or 1e-9, and that NaN may have other bits. */
struct elementwise_kernels {
    binary_fn *binary[BINARY_N_OPERATIONS][N_OPERAND_FORMS];
    unary_fn *unary[UNARY_N_OPERATIONS];
};

#endif
