/* A cache of prepacked constant weights, one entry for each op and layout.
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

/* A zeroed cache is empty. */
struct weights_cache {
    struct prepacked *first;
    struct weights_block *blocks;
    size_t capacity_bytes; /* size of all blocks */
};

/* Returns the memory for the weights of an op in a layout, aligned to 64 bytes. If the cache has no
 * such entry, allocates the memory and sets *is_new; the caller then fills the memory, which lives
 * until weights_cache_free. Returns NULL with *err filled on failure. */
void *weights_cache_get(struct weights_cache *cache, const struct op *op, uint32_t layout,
                        size_t size_bytes, bool *is_new, struct irrun_error *err);
/* Removes the entries that were added after `mark`, an earlier value of cache->first. Later entries
 * reuse their memory. */
void weights_cache_drop(struct weights_cache *cache, const struct prepacked *mark);
void weights_cache_free(struct weights_cache *cache);

#endif
