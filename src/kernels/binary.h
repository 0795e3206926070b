/* Element-wise functions of two operands: one loop per operation and type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_BINARY_H
#define IRRUN_KERNELS_BINARY_H

#include "irrun.h"

/* Computes out[i] = f(a[i], b[i]); out may be a or b. Returns false if an integer was divided by
 * zero. */
typedef bool binary_fn(const void *a, const void *b, void *out, size_t n);

enum binary_operation {
#define BINARY_LOOP(name, loops, out, expression) BINARY_##name,
#include "kernels/elementwise.def"
    BINARY_N_OPERATIONS
};

/* Returns whether the results are booleans (bytes of 0 or 1) instead of the operands' type. */
bool binary_gives_boolean(enum binary_operation operation);

/* Returns the plain loop for operands of this type; NULL if there is none (as for f16 and bf16). */
binary_fn *binary_scalar(enum binary_operation operation, enum irrun_dtype dtype);

/* Calls fn for operands of which one may be a scalar: if a_is_array or b_is_array is false, a or b
 * is a single element. Element sizes are in bytes. */
bool binary_apply(binary_fn *fn, size_t operand_bytes, const void *a, bool a_is_array,
                  const void *b, bool b_is_array, size_t out_bytes, void *out, size_t n);

#endif
