/* Shared by the scatter ops: combines pieces of a tensor with updates.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_SCATTER_H
#define IRRUN_OPS_SCATTER_H

#include "kernels/elementwise.h"

/* In the order of the choices of ScatterNDUpdate. */
enum scatter_reduction {
    SCATTER_NONE,
    SCATTER_SUM,
    SCATTER_SUB,
    SCATTER_PROD,
    SCATTER_MIN,
    SCATTER_MAX,
    SCATTER_MEAN, /* adds; the op divides afterwards */
};

/* Returns the function that combines elements and updates; NULL for SCATTER_NONE. For booleans, the
 * sum and maximum are OR, the product and minimum AND, the difference XOR. */
binary_fn *scatter_function(enum scatter_reduction reduction, enum irrun_dtype dtype);

/* Computes to[offsets[k] …] = fn(to[offsets[k] …], from[k * piece_elements …]) for n pieces, in
 * order; a NULL fn overwrites. Offsets are in bytes. */
void scatter_apply(binary_fn *fn, const void *from, size_t n, size_t piece_elements,
                   size_t element_bytes, void *to, const int64_t *offsets);

#endif
