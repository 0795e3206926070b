/* The byte order of this machine and of files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_BYTE_ORDER_H
#define IRRUN_FORMATS_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Reverses the bytes of each of n elements of size_bytes. */
static inline void swap_elements(unsigned char *data, size_t size_bytes, size_t n)
{
    for (; n != 0; n--, data += size_bytes)
        for (size_t i = 0; i < size_bytes / 2; i++) {
            unsigned char byte = data[i];
            data[i] = data[size_bytes - 1 - i];
            data[size_bytes - 1 - i] = byte;
        }
}

#endif
