/* Select copies elements by a condition. The kernels depend on the width of elements, not on their
 * type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SELECT_H
#define IRRUN_KERNELS_SELECT_H

#include <stdbool.h>
#include <stddef.h>

/* Arguments of select_fn: out[i] = condition[i] ? then[i] : else[i], for n_rows rows of n elements.
 * A condition is a byte, and is true if it is not zero. Strides are in elements. No alignment is
 * required. `out` must not overlap an operand unless it is the same array. */
struct select_run {
    size_t n, n_rows;
    const unsigned char *condition;
    const void *then_values;
    const void *else_values;
    void *out;                                         /* dense: [n_rows][n] */
    size_t condition_stride, then_stride, else_stride; /* within a row: 1, or 0: a scalar */
    size_t condition_row, then_row, else_row;          /* elements from one row to the next */
    bool is_streamed; /* use non-temporal stores, for an output larger than the caches */
};

typedef void select_fn(const struct select_run *run);

#endif
