/* Prepacked constant weights, once per model and layout, and their memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_WEIGHTS_CACHE_H
#define IRRUN_PLAN_WEIGHTS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct op;
struct prepacked;
struct weights_block;

/* Zeroed: empty. */
struct weights_cache {
    struct prepacked *first;
    struct weights_block *blocks;
    size_t capacity_bytes; /* of all blocks */
};

/* Returns the memory of the weights of an op in a layout, 64-byte aligned. If they are not in the
 * cache, allocates it and sets *is_new. It lives until weights_cache_free. Returns NULL with *err
 * filled if there is no memory. */
void *weights_cache_get(struct weights_cache *cache, const struct op *op, uint32_t layout,
                        size_t size_bytes, bool *is_new, struct irrun_error *err);
/* Removes the entries that were added after `mark`, which was cache->first then. Later entries
 * reuse their memory. */
void weights_cache_drop(struct weights_cache *cache, const struct prepacked *mark);
void weights_cache_free(struct weights_cache *cache);

#endif
