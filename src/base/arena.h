/* Allocates memory that is freed all at once. An arena is used by one thread at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_ARENA_H
#define IRRUN_BASE_ARENA_H

#include <stddef.h>

#include "base/error.h"

struct arena_block;

/* Initialize with zeros. */
struct arena {
    struct arena_block *blocks;
    size_t size_bytes; /* allocated since the start or the last reset */
};

/* Return zeroed memory that is aligned for any scalar type, or fill *err and return NULL. A size of
 * 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size_bytes, struct irrun_error *err);
void *arena_alloc_array(struct arena *arena, size_t n, size_t item_bytes, struct irrun_error *err);
char *arena_strndup(struct arena *arena, const char *text, size_t length, struct irrun_error *err);
char *arena_strdup(struct arena *arena, const char *text, struct irrun_error *err);
void *arena_copy(struct arena *arena, const void *items, size_t n, size_t item_bytes,
                 struct irrun_error *err);
void arena_free(struct arena *arena);

/* Discards all allocations, and keeps the memory for new ones. If the arena has several blocks, one
 * block of twice their total size replaces them, so that after a few resets no more blocks are
 * allocated. */
void arena_reset(struct arena *arena);

/* Grow an array on the heap: reserve_array makes room for n items, grow_array for n + 1. *capacity
 * at least doubles. If memory runs out, they fill *err, return false and leave *items unchanged.
 * The caller frees *items. */
bool reserve_array(void **items, size_t n, size_t *capacity, size_t item_bytes,
                   struct irrun_error *err);
bool grow_array(void **items, size_t n, size_t *capacity, size_t item_bytes,
                struct irrun_error *err);

/* Calls grow_array for a typed pointer. */
#define GROW_ARRAY(items, n, capacity, err)                                                        \
    grow_array((void **)&(items), n, &(capacity), sizeof *(items), err)

/* Allocates n zeroed items on the heap, which the caller frees. If memory runs out, fills *err and
 * returns NULL. n = 0 also gives a valid pointer. */
void *new_array(size_t n, size_t item_bytes, struct irrun_error *err);

#endif
