/* Plain loops of the indexed copy: pieces of one element are moved in a register.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indexed_copy.h"

/* A constant size lets memcpy become one load and one store. */
#define FOR_SIZE(piece_bytes, loop)                                                                \
    switch (piece_bytes) {                                                                         \
    case 0:                                                                                        \
        break;                                                                                     \
    case 1:                                                                                        \
        loop(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        loop(2);                                                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        loop(4);                                                                                   \
        break;                                                                                     \
    case 8:                                                                                        \
        loop(8);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        loop(piece_bytes);                                                                         \
    }

#define GATHER(size)                                                                               \
    for (size_t k = 0; k < n; k++)                                                                 \
    memcpy((char *)to + k * (size), (const char *)from + offsets[k], (size))

#define SCATTER(size)                                                                              \
    for (size_t k = 0; k < n; k++)                                                                 \
    memcpy((char *)to + offsets[k], (const char *)from + k * (size), (size))

#define FILL(size)                                                                                 \
    for (size_t k = 0; k < n; k++)                                                                 \
    memcpy((char *)to + k * (size), element, (size))

void indexed_gather(const void *from, const int64_t *offsets, size_t n, size_t piece_bytes,
                    void *to)
{
    FOR_SIZE(piece_bytes, GATHER)
}

void indexed_scatter(const void *from, size_t n, size_t piece_bytes, void *to,
                     const int64_t *offsets)
{
    FOR_SIZE(piece_bytes, SCATTER)
}

void fill_elements(void *to, size_t n, const void *element, size_t element_bytes)
{
    FOR_SIZE(element_bytes, FILL)
}
