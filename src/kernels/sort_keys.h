/* Maps elements of any type to unsigned keys that have the same order, and sorts indices by a
 * comparison function.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SORT_KEYS_H
#define IRRUN_KERNELS_SORT_KEYS_H

#include "irrun.h"

/* Writes keys that sort like the elements: for numbers, keys[i] < keys[j] if and only if element i
 * < element j. -0 and 0 have the same key. All NaNs have the same key, which is above the key of
 * every number. Elements are `stride` elements apart. dtype: boolean, an integer of 8 bits or more,
 * f16, bf16, f32 or f64. */
void sort_keys(enum irrun_dtype dtype, const void *data, size_t stride, size_t n, uint64_t *keys);

/* Sorts indices[0 … n-1] by is_before, which returns whether index a comes before index b. The sort
 * is stable. `scratch` has room for n elements. */
typedef bool is_before_fn(const void *context, size_t a, size_t b);
void argsort(size_t *indices, size_t n, size_t *scratch, is_before_fn *is_before,
             const void *context);

#endif
