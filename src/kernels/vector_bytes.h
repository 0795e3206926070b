/* Functions for vectors of bytes, at levels with a byte table lookup. They process each 16 bytes of
 * a vector separately.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_VECTOR_BYTES_H
#define IRRUN_KERNELS_VECTOR_BYTES_H

#include <stdbool.h>

#include "kernels/level.h"

/* bits_look_up returns the table bytes that indices of 0 ... 15 select. bits_zip_N interleaves the
 * N-bit elements of the lower or upper halves of a and b. bits_repeat_16 loads 16 bytes and repeats
 * them. */
#if defined(MM) && VECTOR_LANES <= 8
#define VECTOR_HAS_BYTE_LOOKUP
ALWAYS_INLINE bits bits_look_up(bits table, bits indices)
{
    return MM(shuffle_epi8)(table, indices);
}
ALWAYS_INLINE bits bits_zip_8(bits a, bits b, bool is_upper)
{
    return is_upper ? MM(unpackhi_epi8)(a, b) : MM(unpacklo_epi8)(a, b);
}
ALWAYS_INLINE bits bits_zip_16(bits a, bits b, bool is_upper)
{
    return is_upper ? MM(unpackhi_epi16)(a, b) : MM(unpacklo_epi16)(a, b);
}
#elif defined(__aarch64__) && !defined(LEVEL_IS_SCALAR)
#define VECTOR_HAS_BYTE_LOOKUP
ALWAYS_INLINE bits bits_look_up(bits table, bits indices)
{
    return vqtbl1q_u8(table, indices);
}
ALWAYS_INLINE bits bits_zip_8(bits a, bits b, bool is_upper)
{
    return is_upper ? vzip2q_u8(a, b) : vzip1q_u8(a, b);
}
ALWAYS_INLINE bits bits_zip_16(bits a, bits b, bool is_upper)
{
    uint16x8_t x = vreinterpretq_u16_u8(a), y = vreinterpretq_u16_u8(b);
    return vreinterpretq_u8_u16(is_upper ? vzip2q_u16(x, y) : vzip1q_u16(x, y));
}
#endif

ALWAYS_INLINE bits bits_repeat_16(const void *at)
{
#if VECTOR_LANES == 8
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(at));
#else
    return bits_load(at);
#endif
}

#endif
