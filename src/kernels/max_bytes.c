/* Maxima of pixels of u8, in vectors of 16 bytes, which the compiler supports on any CPU.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/pool.h"

typedef uint8_t vec_u8 __attribute__((vector_size(16)));
typedef uint64_t vec_u64 __attribute__((vector_size(16)));

static inline vec_u8 max_of(vec_u8 a, vec_u8 b)
{
    vec_u8 is_larger = (vec_u8)(a > b);
    return (a & is_larger) | (b & ~is_larger);
}

static inline void max_16(const uint8_t *x, uint8_t *y)
{
    vec_u8 a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    b = max_of(a, b);
    memcpy(y, &b, sizeof b);
}

static inline void max_8(const uint8_t *x, uint8_t *y)
{
    uint64_t a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    b = ((vec_u64)max_of((vec_u8)(vec_u64){a}, (vec_u8)(vec_u64){b}))[0];
    memcpy(y, &b, sizeof b);
}

/* Vectors do not overlap: a load that spans two recent stores would wait until both are in L1. */
static inline void max_pixel(const uint8_t *x, uint8_t *y, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        max_16(x + i, y + i);
    for (; i + 8 <= n; i += 8)
        max_8(x + i, y + i);
    for (; i < n; i++)
        y[i] = x[i] > y[i] ? x[i] : y[i];
}

void max_bytes(const uint8_t *from, size_t stride, uint8_t *to, size_t n_channels, size_t n_pixels)
{
    for (size_t i = 0; i < n_pixels; i++)
        max_pixel(from + i * stride, to + i * n_channels, n_channels);
}
