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

/* Frees all allocations for reuse. If the arena has more than one block, one block of twice their
 * size replaces them, so that after a few resets no block is allocated. */
void arena_reset(struct arena *arena);

/* Grow an array on the heap: reserve_array makes room for n items, grow_array for n + 1. *capacity
 * at least doubles. If there is no memory, they fill *err and return false, and *items stays as it
 * is. The caller frees *items. */
bool reserve_array(void **items, size_t n, size_t *capacity, size_t item_bytes,
                   struct irrun_error *err);
bool grow_array(void **items, size_t n, size_t *capacity, size_t item_bytes,
                struct irrun_error *err);

/* Calls grow_array for a typed pointer. */
#define GROW_ARRAY(items, n, capacity, err)                                                        \
    grow_array((void **)&(items), n, &(capacity), sizeof *(items), err)

/* Allocates n zeroed items on the heap, which the caller frees. Returns NULL with *err filled if
 * there is no memory; for n = 0 it returns a pointer too. */
void *new_array(size_t n, size_t item_bytes, struct irrun_error *err);

#endif
