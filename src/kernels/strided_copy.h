/* Copies an N-dimensional array from one layout to a different one, for Transpose, Slice, Broadcast
 * and Tile. The element size matters, but not the type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_STRIDED_COPY_H
#define IRRUN_KERNELS_STRIDED_COPY_H

#include "irrun.h"

#define STRIDED_COPY_MAX_RANK (2 * IRRUN_MAX_RANK)

/* A loop of n iterations, with the strides of both arrays in elements. `from` may be 0 or
 * negative. */
struct strided_loop {
    int64_t n, from, to;
};

/* Merged loops, outermost first. */
struct strided_copy {
    uint32_t rank; /* 0: a single element */
    bool is_empty;
    struct strided_loop loops[STRIDED_COPY_MAX_RANK];
};

/* Plans loops over dims[rank]: drops dimensions of size 1, and merges neighbouring dimensions if
 * both layouts allow it. */
void strided_copy_plan(struct strided_copy *copy, uint32_t rank, const int64_t *dims,
                       const int64_t *from_strides, const int64_t *to_strides);

/* Copies the array. element_bytes is 1, 2, 4 or 8. `from` and `to` point to the elements at index
 * 0; the arrays do not overlap. */
void strided_copy_run(const struct strided_copy *copy, size_t element_bytes, const void *from,
                      void *to);

#endif
