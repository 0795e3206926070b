/* Select moves bits: elements are named by their width, and their values are never looked at.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SELECT_H
#define IRRUN_KERNELS_SELECT_H

#include <stddef.h>

/* One run of n elements: out[i] = condition[i] ? then[i] : else[i]. A condition is one byte, and
 * any that is not zero is true. A stride is 1, or 0 for an operand that stands still. No pointer
 * needs any alignment. out may be one of the others, element for element, or overlaps none of
 * them. */
struct select_run {
    size_t n;
    const unsigned char *condition;
    const void *then_values;
    const void *else_values;
    void *out;
    size_t condition_stride, then_stride, else_stride;
};

typedef void select_fn(const struct select_run *run);

#endif
