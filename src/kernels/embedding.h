/* Adds and averages rows of an embedding table.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_EMBEDDING_H
#define IRRUN_KERNELS_EMBEDDING_H

#include "irrun.h"

struct embedding_fns {
    /* Adds a row to a sum: sum[i] += row[i], or row[i] * *weight if weight is not NULL. Integers
     * wrap. */
    void (*add)(void *sum, const void *row, const void *weight, size_t n);
    /* Divides: sum[i] /= count, where count > 0. Integers are rounded toward zero. */
    void (*divide)(void *sum, size_t count, size_t n);
};

/* Returns NULL for f16, bf16 and types that are not numbers. */
const struct embedding_fns *embedding_scalar(enum irrun_dtype dtype);

#endif
