/* Gathers blocks of equal size from a list of offsets into a dense row, and scatters them back.
 * Works on bytes, for every element type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_INDEXED_COPY_H
#define IRRUN_KERNELS_INDEXED_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Copies the block at from + offsets[k] to block k of `to`. Offsets and sizes are in bytes. */
void indexed_gather(const void *from, const int64_t *offsets, size_t n, size_t block_bytes,
                    void *to);

/* Copies block k of `from` to to + offsets[k], in the order of k. */
void indexed_scatter(const void *from, size_t n, size_t block_bytes, void *to,
                     const int64_t *offsets);

/* Writes n copies of the element at `element`. element_bytes is 1, 2, 4 or 8. */
void fill_elements(void *to, size_t n, const void *element, size_t element_bytes);

#endif
