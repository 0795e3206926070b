/* Memory that is freed all at once. Not for several threads at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_ARENA_H
#define IRRUN_BASE_ARENA_H

#include <stddef.h>

#include "base/error.h"

struct arena_block;

/* All zero = an empty arena. */
struct arena {
    struct arena_block *blocks;
    size_t size_bytes; /* handed out so far */
};

/* Zeroed memory, aligned for any scalar type; NULL with *err filled if there is none. A size of 0
 * gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size_bytes, struct irrun_error *err);
void *arena_alloc_array(struct arena *arena, size_t n, size_t item_bytes, struct irrun_error *err);
char *arena_strndup(struct arena *arena, const char *text, size_t length, struct irrun_error *err);
char *arena_strdup(struct arena *arena, const char *text, struct irrun_error *err);
void arena_free(struct arena *arena);

/* Forgets everything that was handed out, but keeps the memory for the next use. */
void arena_reset(struct arena *arena);

/* A growing array on the heap: makes room for n items in all, or for one more after n of them;
 * *capacity at least doubles. Returns false with *err filled if there is no memory; *items stays
 * valid. The caller frees *items. */
bool reserve_array(void **items, size_t n, size_t *capacity, size_t item_bytes,
                   struct irrun_error *err);
bool grow_array(void **items, size_t n, size_t *capacity, size_t item_bytes,
                struct irrun_error *err);

/* Zeroed memory on the heap for n items, the caller's to free; not NULL for n = 0. NULL with *err
 * filled if there is none. */
void *new_array(size_t n, size_t item_bytes, struct irrun_error *err);

#endif
