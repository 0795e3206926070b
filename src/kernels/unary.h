/* Element-wise functions of one operand.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_UNARY_H
#define IRRUN_KERNELS_UNARY_H

#include "irrun.h"

#define UNARY_N_PARAMETERS 2

/* Computes out[i] = f(in[i]); out may be in. p: p0 and p1 of elementwise.def. */
typedef void unary_fn(const void *in, void *out, size_t n, const double p[UNARY_N_PARAMETERS]);

enum unary_operation {
#define UNARY_LOOP(name, loops, out, expression) UNARY_##name,
#include "kernels/elementwise.def"
    UNARY_N_OPERATIONS
};

/* Returns whether the results are booleans (bytes of 0 or 1) instead of the operand's type. */
bool unary_gives_boolean(enum unary_operation operation);

/* Returns the plain loop for elements of this type; NULL if there is none. */
unary_fn *unary_scalar(enum unary_operation operation, enum irrun_dtype dtype);

#endif
