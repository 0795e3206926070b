/* Gathers pieces of equal size from a list of offsets into a dense row, and scatters them back.
 * Copies bytes of any type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_INDEXED_COPY_H
#define IRRUN_KERNELS_INDEXED_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Piece k of `to` is the one at from + offsets[k]; offsets and sizes are in bytes. */
void indexed_gather(const void *from, const int64_t *offsets, size_t n, size_t piece_bytes,
                    void *to);

/* The piece at to + offsets[k] becomes piece k of `from`, in the order of k. */
void indexed_scatter(const void *from, size_t n, size_t piece_bytes, void *to,
                     const int64_t *offsets);

/* n copies of the element at `element`. */
void fill_elements(void *to, size_t n, const void *element, size_t element_bytes);

#endif
