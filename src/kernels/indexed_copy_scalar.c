/* Indexed copies with plain loops. Blocks of 1, 2, 4 or 8 bytes are copied through a register.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indexed_copy.h"
#include "kernels/inline.h"

/* Calls f with the element size, 1, 2, 4 or 8, as a constant last argument, so that memcpy becomes
 * one load and one store. */
#define CALL_WITH_SIZE(f, size, ...)                                                               \
    ((size) == 4   ? f(__VA_ARGS__, 4)                                                             \
     : (size) == 8 ? f(__VA_ARGS__, 8)                                                             \
     : (size) == 2 ? f(__VA_ARGS__, 2)                                                             \
                   : f(__VA_ARGS__, 1))

/* Returns the offset of block k. If `offsets` is NULL, blocks are contiguous. */
ALWAYS_INLINE size_t offset_of(const int64_t *offsets, size_t k, size_t size)
{
    return offsets ? (size_t)offsets[k] : k * size;
}

ALWAYS_INLINE void copy_blocks(const char *from, const int64_t *from_offsets, char *to,
                               const int64_t *to_offsets, size_t n, size_t size)
{
    for (size_t k = 0; k < n; k++)
        memcpy(to + offset_of(to_offsets, k, size), from + offset_of(from_offsets, k, size), size);
}

static void copy(const void *from, const int64_t *from_offsets, void *to, const int64_t *to_offsets,
                 size_t n, size_t size)
{
    if (size == 1 || size == 2 || size == 4 || size == 8)
        CALL_WITH_SIZE(copy_blocks, size, from, from_offsets, to, to_offsets, n);
    else if (size > 0)
        copy_blocks(from, from_offsets, to, to_offsets, n, size);
}

void indexed_gather(const void *from, const int64_t *offsets, size_t n, size_t block_bytes,
                    void *to)
{
    copy(from, offsets, to, NULL, n, block_bytes);
}

void indexed_scatter(const void *from, size_t n, size_t block_bytes, void *to,
                     const int64_t *offsets)
{
    copy(from, NULL, to, offsets, n, block_bytes);
}

ALWAYS_INLINE void fill(char *to, size_t n, const void *element, size_t size)
{
    unsigned char own[8];
    memcpy(own, element, size);
    for (size_t k = 0; k < n; k++)
        memcpy(to + k * size, own, size);
}

void fill_elements(void *to, size_t n, const void *element, size_t element_bytes)
{
    CALL_WITH_SIZE(fill, element_bytes, to, n, element);
}
