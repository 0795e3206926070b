/* An arena is a list of zeroed blocks, each twice as large as the one before, up to a limit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/memory_limit.h"

#define FIRST_BLOCK_BYTES ((size_t)4 << 10)
#define LAST_BLOCK_BYTES ((size_t)1 << 20)
#define ALIGNMENT _Alignof(max_align_t)

struct arena_block {
    struct arena_block *next;
    size_t capacity_bytes, used_bytes;
    max_align_t data[];
};

/* Adds a block; returns NULL if memory runs out. A request for more than half of the usual size
 * gets its own block, which is inserted after the current one, so that the current one remains in
 * use. */
static struct arena_block *add_block(struct arena *arena, size_t size_bytes)
{
    struct arena_block *current = arena->blocks;
    size_t capacity_bytes = FIRST_BLOCK_BYTES;
    if (current && current->capacity_bytes >= LAST_BLOCK_BYTES / 2)
        capacity_bytes = LAST_BLOCK_BYTES;
    else if (current)
        capacity_bytes = current->capacity_bytes * 2;

    bool is_single = size_bytes > capacity_bytes / 2;
    if (is_single)
        capacity_bytes = size_bytes;
    size_t block_bytes;
    if (!checked_add(capacity_bytes, sizeof(struct arena_block), &block_bytes))
        return NULL;
    struct arena_block *block = calloc(1, block_bytes);
    if (!block)
        return NULL;
    block->capacity_bytes = capacity_bytes;
    if (is_single && current) {
        block->next = current->next;
        current->next = block;
    } else {
        block->next = current;
        arena->blocks = block;
    }
    return block;
}

void *arena_alloc(struct arena *arena, size_t size_bytes, struct irrun_error *err)
{
    size_t rounded_bytes;
    if (!checked_round_up(size_bytes, ALIGNMENT, &rounded_bytes)) {
        fail_memory(err, size_bytes);
        return NULL;
    }
    if (!memory_check(arena->size_bytes, rounded_bytes, err))
        return NULL;
    struct arena_block *block = arena->blocks;
    if (!block || block->capacity_bytes - block->used_bytes < rounded_bytes)
        block = add_block(arena, rounded_bytes);
    if (!block) {
        fail_memory(err, size_bytes);
        return NULL;
    }
    void *memory = (unsigned char *)block->data + block->used_bytes;
    block->used_bytes += rounded_bytes;
    arena->size_bytes += size_bytes;
    return memory;
}

void *arena_alloc_array(struct arena *arena, size_t n, size_t item_bytes, struct irrun_error *err)
{
    size_t size_bytes;
    if (!checked_mul(n, item_bytes, &size_bytes)) {
        fail_memory(err, SIZE_MAX);
        return NULL;
    }
    return arena_alloc(arena, size_bytes, err);
}

void *arena_copy(struct arena *arena, const void *items, size_t n, size_t item_bytes,
                 struct irrun_error *err)
{
    void *copy = arena_alloc_array(arena, n, item_bytes, err);
    if (copy && n != 0)
        memcpy(copy, items, n * item_bytes);
    return copy;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length, struct irrun_error *err)
{
    size_t size_bytes;
    if (!checked_add(length, 1, &size_bytes)) {
        fail_memory(err, length);
        return NULL;
    }
    char *copy = arena_alloc(arena, size_bytes, err);
    if (copy && length != 0)
        memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text, struct irrun_error *err)
{
    return arena_strndup(arena, text, strlen(text), err);
}

void arena_free(struct arena *arena)
{
    struct arena_block *block = arena->blocks;
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = (struct arena){NULL, 0};
}

void arena_reset(struct arena *arena)
{
    if (arena->blocks && !arena->blocks->next) {
        memset(arena->blocks->data, 0, arena->blocks->used_bytes);
        arena->blocks->used_bytes = 0;
        arena->size_bytes = 0;
        return;
    }
    size_t capacity_bytes = 0;
    for (const struct arena_block *block = arena->blocks; block; block = block->next)
        capacity_bytes += block->capacity_bytes;
    arena_free(arena);
    if (capacity_bytes > 0)
        add_block(arena, 2 * capacity_bytes);
}

bool reserve_array(void **items, size_t n, size_t *capacity, size_t item_bytes,
                   struct irrun_error *err)
{
    if (n <= *capacity)
        return true;
    size_t wanted, size_bytes;
    if (!checked_mul(*capacity, 2, &wanted) || wanted < n)
        wanted = n;
    if (!checked_mul(wanted, item_bytes, &size_bytes))
        return fail_memory(err, SIZE_MAX);

    /* The type of the caller's pointer is not known, so memcpy reads and writes the pointer. */
    void *old;
    memcpy(&old, items, sizeof old);
    void *grown = realloc(old, size_bytes);
    if (!grown)
        return fail_memory(err, size_bytes);
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

bool grow_array(void **items, size_t n, size_t *capacity, size_t item_bytes,
                struct irrun_error *err)
{
    return n < *capacity || reserve_array(items, n < 8 ? 8 : n + 1, capacity, item_bytes, err);
}

void *new_array(size_t n, size_t item_bytes, struct irrun_error *err)
{
    size_t n_least = n ? n : 1, size_bytes;
    void *items = calloc(n_least, item_bytes);
    if (!items)
        fail_memory(err, checked_mul(n_least, item_bytes, &size_bytes) ? size_bytes : SIZE_MAX);
    return items;
}
