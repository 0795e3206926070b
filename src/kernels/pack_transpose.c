/* Transposes blocks of 16 x 16 elements at the speed of memory. Uses vectors of 16 bytes, which the
 * compiler emulates if the CPU has none; wider vectors are not faster.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/pack_transpose.h"

#include <stdint.h>
#include <string.h>

typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef uint64_t u64x2 __attribute__((vector_size(16)));

#ifdef __clang__
#define SHUFFLE(type, a, b, ...) __builtin_shufflevector((type)(a), (type)(b), __VA_ARGS__)
#else
#define SHUFFLE(type, a, b, ...) __builtin_shuffle((type)(a), (type)(b), (type){__VA_ARGS__})
#endif
/* Interleave the elements of the lower halves (LOW) or of the upper halves (HIGH) of a and b. */
#define LOW_16(a, b) SHUFFLE(u16x8, a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_16(a, b) SHUFFLE(u16x8, a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_32(a, b) SHUFFLE(u32x4, a, b, 0, 4, 1, 5)
#define HIGH_32(a, b) SHUFFLE(u32x4, a, b, 2, 6, 3, 7)
#define LOW_64(a, b) SHUFFLE(u64x2, a, b, 0, 2)
#define HIGH_64(a, b) SHUFFLE(u64x2, a, b, 1, 3)

static inline void transpose_4x4(const unsigned char *from, size_t from_stride, unsigned char *to,
                                 size_t to_stride)
{
    u32x4 row[4], pair[4];
    for (size_t j = 0; j < 4; j++)
        memcpy(&row[j], from + j * from_stride, sizeof row[j]);
    for (size_t j = 0; j < 2; j++) {
        pair[2 * j] = LOW_32(row[j], row[j + 2]);
        pair[2 * j + 1] = HIGH_32(row[j], row[j + 2]);
    }
    for (size_t i = 0; i < 2; i++) {
        row[2 * i] = LOW_32(pair[i], pair[i + 2]);
        row[2 * i + 1] = HIGH_32(pair[i], pair[i + 2]);
    }
    for (size_t i = 0; i < 4; i++)
        memcpy(to + i * to_stride, &row[i], sizeof row[i]);
}

void pack_transpose_f32(const void *from, size_t from_stride, void *to, size_t to_stride)
{
    const unsigned char *source = from;
    unsigned char *target = to;

    for (size_t i = 0; i < 16; i += 4)
        for (size_t j = 0; j < 16; j += 4)
            transpose_4x4(source + j * from_stride + i * sizeof(float), from_stride,
                          target + i * to_stride + j * sizeof(float), to_stride);
}

/* Interleaves single elements, then pairs, then groups of four. */
static inline void transpose_8x8(const unsigned char *from, size_t from_stride, unsigned char *to,
                                 size_t to_stride)
{
    u16x8 row[8], pair[8];
    u32x4 four[8];
    for (size_t j = 0; j < 8; j++)
        memcpy(&row[j], from + j * from_stride, sizeof row[j]);
    for (size_t j = 0; j < 4; j++) {
        pair[2 * j] = LOW_16(row[2 * j], row[2 * j + 1]);
        pair[2 * j + 1] = HIGH_16(row[2 * j], row[2 * j + 1]);
    }
    for (size_t j = 0; j < 8; j += 4) {
        for (size_t i = 0; i < 2; i++) {
            four[j + 2 * i] = LOW_32(pair[j + i], pair[j + 2 + i]);
            four[j + 2 * i + 1] = HIGH_32(pair[j + i], pair[j + 2 + i]);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        u64x2 low = LOW_64(four[i], four[i + 4]), high = HIGH_64(four[i], four[i + 4]);
        memcpy(to + 2 * i * to_stride, &low, sizeof low);
        memcpy(to + (2 * i + 1) * to_stride, &high, sizeof high);
    }
}

void pack_transpose_f16(const void *from, size_t from_stride, void *to, size_t to_stride)
{
    const unsigned char *source = from;
    unsigned char *target = to;

    for (size_t i = 0; i < 16; i += 8)
        for (size_t j = 0; j < 16; j += 8)
            transpose_8x8(source + j * from_stride + i * sizeof(short), from_stride,
                          target + i * to_stride + j * sizeof(short), to_stride);
}
