/* What ops make of constant weights, once per model and layout, and the memory that it lies in.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PACKS_H
#define IRRUN_PLAN_PACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct op;
struct pack;
struct pack_block;

/* All zero = none. */
struct packs {
    struct pack *first;
    struct pack_block *blocks;
    size_t capacity_bytes; /* of all blocks */
};

/* The pack of an op in a layout, 64-byte aligned; made, and *is_new, if it is not there. NULL with
 * *err filled if there is no memory. It lives until packs_free. */
void *packs_get(struct packs *packs, const struct op *op, uint32_t layout, size_t size_bytes,
                bool *is_new, struct irrun_error *err);
/* Drops those made since packs->first was `mark`: they were not filled. */
void packs_drop(struct packs *packs, const struct pack *mark);
void packs_free(struct packs *packs);

#endif
