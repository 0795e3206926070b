/* Allocates prepacked weights contiguously in blocks. The first blocks are ordinary memory, later
 * ones pages of 2 MB.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/weights_cache.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/huge_pages.h"

#define LINE_BYTES ((size_t)64)

/* Minimum size of an entry that is worth a huge page, which saves 64 page faults. */
#define HUGE_MIN_BYTES ((size_t)256 << 10)

struct prepacked {
    struct prepacked *next;
    const struct op *op;
    uint32_t layout;
    unsigned char *data;
    struct weights_block *block; /* the block that contains the data */
};

struct weights_block {
    struct weights_block *next;
    unsigned char *data;
    size_t capacity_bytes, used_bytes;
};

/* Adds a block of at least size_bytes. While the entries and the cache are small, it is ordinary
 * memory and doubles the capacity of the cache; later it consists of huge pages. */
static struct weights_block *add_block(struct weights_cache *cache, size_t size_bytes)
{
    size_t before_bytes = cache->capacity_bytes;
    bool is_small = size_bytes < HUGE_MIN_BYTES && before_bytes < HUGE_MIN_BYTES;
    size_t min_bytes = is_small ? before_bytes : HUGE_PAGE_BYTES;
    size_t capacity_bytes = size_bytes > min_bytes ? size_bytes : min_bytes;
    struct weights_block *block = malloc(sizeof *block);
    void *data = block ? huge_reserve(&capacity_bytes) : NULL;
    if (!data) {
        free(block);
        return NULL;
    }
    *block = (struct weights_block){cache->blocks, data, capacity_bytes, 0};
    cache->blocks = block;
    cache->capacity_bytes += capacity_bytes;
    return block;
}

/* Allocates from the newest block, cache->blocks; adds a block if necessary. */
static void *allocate(struct weights_cache *cache, size_t size_bytes)
{
    struct weights_block *block = cache->blocks;

    if (!checked_round_up(size_bytes > 0 ? size_bytes : 1, LINE_BYTES, &size_bytes))
        return NULL;
    if (!block || block->capacity_bytes - block->used_bytes < size_bytes)
        block = add_block(cache, size_bytes);
    if (!block)
        return NULL;
    size_t begin = block->used_bytes;
    block->used_bytes += size_bytes;
    if (block->capacity_bytes >= HUGE_PAGE_BYTES)
        huge_advise(block->data, begin, block->used_bytes, HUGE_MIN_BYTES);
    return block->data + begin;
}

void *weights_cache_get(struct weights_cache *cache, const struct op *op, uint32_t layout,
                        size_t size_bytes, bool *is_new, struct irrun_error *err)
{
    *is_new = false;
    for (struct prepacked *prepacked = cache->first; prepacked; prepacked = prepacked->next)
        if (prepacked->op == op && prepacked->layout == layout)
            return prepacked->data;
    struct prepacked *prepacked = malloc(sizeof *prepacked);
    void *data = prepacked ? allocate(cache, size_bytes) : NULL;
    if (!data) {
        free(prepacked);
        fail_memory(err, size_bytes);
        return NULL;
    }
    *prepacked = (struct prepacked){cache->first, op, layout, data, cache->blocks};
    cache->first = prepacked;
    *is_new = true;
    return data;
}

void weights_cache_drop(struct weights_cache *cache, const struct prepacked *mark)
{
    while (cache->first != mark) {
        struct prepacked *prepacked = cache->first;
        cache->first = prepacked->next;
        prepacked->block->used_bytes = (size_t)(prepacked->data - prepacked->block->data);
        free(prepacked);
    }
}

void weights_cache_free(struct weights_cache *cache)
{
    weights_cache_drop(cache, NULL);
    while (cache->blocks) {
        struct weights_block *block = cache->blocks;
        cache->blocks = block->next;
        free(block->data);
        free(block);
    }
}
