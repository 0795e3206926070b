/* Keys that sort as elements do, and a merge sort of places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/sort_keys.h"

#include <string.h>

/* The bits of a float of n bits: negative ones turned round, the others put above them. */
static uint64_t key_of_bits(uint64_t bits, unsigned n_bits, uint64_t infinity)
{
    uint64_t sign = (uint64_t)1 << (n_bits - 1), magnitude = bits & (sign - 1);
    if (magnitude > infinity)
        return UINT64_MAX;
    if (magnitude == 0)
        return sign;
    return bits & sign ? sign - magnitude : sign + magnitude;
}

/* One loop a type; `key` makes the key of x. */
#define LOOP(T, key_of)                                                                            \
    for (size_t i = 0; i < n; i++) {                                                               \
        T x = ((const T *)data)[i * stride];                                                       \
        keys[i] = key_of;                                                                          \
    }                                                                                              \
    break

#define FLIP_SIGN(x) ((uint64_t)(int64_t)(x) ^ (uint64_t)1 << 63)

void sort_keys(enum irrun_dtype dtype, const void *data, size_t stride, size_t n, uint64_t *keys)
{
    switch (dtype) {
    case IRRUN_F16:
        LOOP(uint16_t, key_of_bits(x, 16, 0x7c00));
    case IRRUN_BF16:
        LOOP(uint16_t, key_of_bits(x, 16, 0x7f80));
    case IRRUN_F32:
        LOOP(uint32_t, key_of_bits(x, 32, 0x7f800000));
    case IRRUN_F64:
        LOOP(uint64_t, key_of_bits(x, 64, 0x7ff0000000000000));
    case IRRUN_I8:
        LOOP(int8_t, FLIP_SIGN(x));
    case IRRUN_I16:
        LOOP(int16_t, FLIP_SIGN(x));
    case IRRUN_I32:
        LOOP(int32_t, FLIP_SIGN(x));
    case IRRUN_I64:
        LOOP(int64_t, FLIP_SIGN(x));
    case IRRUN_U16:
        LOOP(uint16_t, x);
    case IRRUN_U32:
        LOOP(uint32_t, x);
    case IRRUN_U64:
        LOOP(uint64_t, x);
    case IRRUN_BOOLEAN:
        LOOP(uint8_t, x != 0);
    default:
        LOOP(uint8_t, x);
    }
}

/* Merges from[low … middle-1] and from[middle … high-1] into to[low … high-1]. */
static void merge(const size_t *from, size_t low, size_t middle, size_t high, size_t *to,
                  is_before_fn *is_before, const void *context)
{
    size_t left = low, right = middle;
    for (size_t i = low; i < high; i++) {
        bool takes_right =
            left == middle || (right < high && is_before(context, from[right], from[left]));
        to[i] = takes_right ? from[right++] : from[left++];
    }
}

void sort_places(size_t *places, size_t n, size_t *spare, is_before_fn *is_before,
                 const void *context)
{
    size_t *from = places, *to = spare;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t low = 0; low < n; low += 2 * run) {
            size_t middle = n - low < run ? n : low + run;
            size_t high = n - low < 2 * run ? n : low + 2 * run;
            merge(from, low, middle, high, to, is_before, context);
        }
        size_t *other = from;
        from = to;
        to = other;
    }
    if (from != places && n > 0)
        memcpy(places, from, n * sizeof *places);
}
