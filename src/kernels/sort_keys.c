/* Computes keys in the order of the elements, and sorts indices by merge sort.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/sort_keys.h"

#include <string.h>

/* Loops over the elements of one type; `key_of` computes the key of x. */
#define LOOP(T, key_of)                                                                            \
    for (size_t i = 0; i < n; i++) {                                                               \
        T x = ((const T *)data)[i * stride];                                                       \
        keys[i] = key_of;                                                                          \
    }                                                                                              \
    break

/* x holds the bits of a float. Reverses the order of negative numbers, and puts positive numbers
 * above them. */
#define FLOAT_LOOP(T, sign, infinity)                                                              \
    for (size_t i = 0; i < n; i++) {                                                               \
        T x = ((const T *)data)[i * stride], magnitude = (T)(x & (sign - 1));                      \
        T key = (T)(x & sign ? sign - magnitude : sign + magnitude);                               \
        keys[i] = magnitude > infinity ? (T)-1 : key;                                              \
    }                                                                                              \
    break

#define FLIP_SIGN(x) ((uint64_t)(int64_t)(x) ^ (uint64_t)1 << 63)

void sort_keys(enum irrun_dtype dtype, const void *data, size_t stride, size_t n, uint64_t *keys)
{
    switch (dtype) {
    case IRRUN_F16:
        FLOAT_LOOP(uint16_t, 0x8000u, 0x7c00u);
    case IRRUN_BF16:
        FLOAT_LOOP(uint16_t, 0x8000u, 0x7f80u);
    case IRRUN_F32:
        FLOAT_LOOP(uint32_t, 0x80000000u, 0x7f800000u);
    case IRRUN_F64:
        FLOAT_LOOP(uint64_t, 0x8000000000000000u, 0x7ff0000000000000u);
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

void argsort(size_t *indices, size_t n, size_t *scratch, is_before_fn *is_before,
             const void *context)
{
    size_t *from = indices, *to = scratch;
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
    if (from != indices && n > 0)
        memcpy(indices, from, n * sizeof *indices);
}
