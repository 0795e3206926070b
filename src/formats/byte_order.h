/* Reads and writes the little-endian and big-endian numbers of files.
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

/* Read little-endian numbers. */
static inline uint16_t little_u16(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t little_u32(const unsigned char *bytes)
{
    return (uint32_t)little_u16(bytes) | (uint32_t)little_u16(bytes + 2) << 16;
}

static inline uint64_t little_u64(const unsigned char *bytes)
{
    return (uint64_t)little_u32(bytes) | (uint64_t)little_u32(bytes + 4) << 32;
}

/* Writes the low n_bytes of a number, little-endian. */
static inline void put_little(unsigned char *bytes, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        bytes[i] = (unsigned char)(value >> 8 * i & 0xff);
}

/* Reads a big-endian number. */
static inline uint32_t big_u32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

#endif
