/* Maxima and sums over u8 pixels, per channel. Uses vectors of 16 bytes, which the compiler
 * supports on any CPU.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/pool.h"

typedef uint8_t vec_u8 __attribute__((vector_size(16)));
typedef uint16_t vec_u16 __attribute__((vector_size(16)));
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

/* Updates y to the maxima of x and y. Vectors do not overlap, since a load that spans two recent
 * stores would wait until both are in L1. */
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

#define MAX_SUMMED 256 /* maximum number of bytes that are summed in 16 bits */

/* Sums 16 channels. */
static void sum_16(const uint8_t *from, size_t stride, size_t n_pixels, uint64_t *sums)
{
    memset(sums, 0, 16 * sizeof *sums);
    while (n_pixels > 0) {
        size_t n = n_pixels < MAX_SUMMED ? n_pixels : MAX_SUMMED;
        vec_u16 low = {0}, high = {0}, x;
        for (size_t i = 0; i < n; i++, from += stride) {
            memcpy(&x, from, sizeof x);
            low += x & 255;
            high += x >> 8;
        }
        for (size_t i = 0; i < 8; i++) {
            sums[2 * i] += low[i];
            sums[2 * i + 1] += high[i];
        }
        n_pixels -= n;
    }
}

void sum_bytes(const uint8_t *from, size_t n_channels, size_t n_pixels, uint64_t *sums)
{
    size_t c = 0;
    for (; c < n_channels && n_channels >= 16; c += 16) {
        size_t last = n_channels - 16, at = c < last ? c : last;
        sum_16(from + at, n_channels, n_pixels, sums + at);
    }
    for (; c < n_channels; c++) {
        sums[c] = 0;
        for (size_t i = 0; i < n_pixels; i++)
            sums[c] += from[i * n_channels + c];
    }
}
