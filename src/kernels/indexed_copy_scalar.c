/* Plain loops of the indexed copy: pieces of one element are moved in a register.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indexed_copy.h"
#include "kernels/inline.h"

/* Where piece k lies: without offsets, behind the one before. */
ALWAYS_INLINE size_t place(const int64_t *offsets, size_t k, size_t size)
{
    return offsets ? (size_t)offsets[k] : k * size;
}

ALWAYS_INLINE void copy_pieces(const char *from, const int64_t *from_offsets, char *to,
                               const int64_t *to_offsets, size_t n, size_t size)
{
    for (size_t k = 0; k < n; k++)
        memcpy(to + place(to_offsets, k, size), from + place(from_offsets, k, size), size);
}

/* A constant size lets memcpy become one load and one store. */
ALWAYS_INLINE void copy(const void *from, const int64_t *from_offsets, void *to,
                        const int64_t *to_offsets, size_t n, size_t size)
{
    switch (size) {
    case 0:
        break;
    case 1:
        copy_pieces(from, from_offsets, to, to_offsets, n, 1);
        break;
    case 2:
        copy_pieces(from, from_offsets, to, to_offsets, n, 2);
        break;
    case 4:
        copy_pieces(from, from_offsets, to, to_offsets, n, 4);
        break;
    case 8:
        copy_pieces(from, from_offsets, to, to_offsets, n, 8);
        break;
    default:
        copy_pieces(from, from_offsets, to, to_offsets, n, size);
    }
}

void indexed_gather(const void *from, const int64_t *offsets, size_t n, size_t piece_bytes,
                    void *to)
{
    copy(from, offsets, to, NULL, n, piece_bytes);
}

void indexed_scatter(const void *from, size_t n, size_t piece_bytes, void *to,
                     const int64_t *offsets)
{
    copy(from, NULL, to, offsets, n, piece_bytes);
}

void fill_elements(void *to, size_t n, const void *element, size_t element_bytes)
{
    size_t n_bytes = n * element_bytes, next;
    if (n_bytes > 0)
        memcpy(to, element, element_bytes);
    for (size_t done = element_bytes; done < n_bytes; done += next) {
        next = done < n_bytes - done ? done : n_bytes - done;
        memcpy((char *)to + done, to, next);
    }
}
