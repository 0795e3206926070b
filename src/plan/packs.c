/* Packs lie one behind the other in blocks: of ordinary memory, then of 2 MB pages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/packs.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/huge_pages.h"

#define LINE_BYTES ((size_t)64)

/* So much of a page in one pack is worth a whole one: 64 faults less. */
#define HUGE_FROM_BYTES ((size_t)256 << 10)

struct pack {
    struct pack *next;
    const struct op *op;
    uint32_t layout;
    void *data;
};

struct pack_block {
    struct pack_block *next;
    unsigned char *data;
    size_t capacity_bytes, used_bytes;
};

/* Pages for many packs, or ordinary memory for a few, as much again as there is. */
static struct pack_block *add_block(struct packs *packs, size_t size_bytes)
{
    size_t before_bytes = packs->capacity_bytes;
    bool is_small = size_bytes < HUGE_FROM_BYTES && before_bytes < HUGE_FROM_BYTES;
    size_t least_bytes = is_small ? before_bytes : HUGE_PAGE_BYTES;
    size_t capacity_bytes = size_bytes > least_bytes ? size_bytes : least_bytes;
    struct pack_block *block = malloc(sizeof *block);
    void *data = block ? huge_reserve(&capacity_bytes) : NULL;
    if (!data) {
        free(block);
        return NULL;
    }
    *block = (struct pack_block){packs->blocks, data, capacity_bytes, 0};
    packs->blocks = block;
    packs->capacity_bytes += capacity_bytes;
    return block;
}

static void *allocate(struct packs *packs, size_t size_bytes)
{
    struct pack_block *block = packs->blocks;

    if (!checked_add(size_bytes > 0 ? size_bytes : 1, LINE_BYTES - 1, &size_bytes))
        return NULL;
    size_bytes -= size_bytes % LINE_BYTES;
    if (!block || block->capacity_bytes - block->used_bytes < size_bytes)
        block = add_block(packs, size_bytes);
    if (!block)
        return NULL;
    size_t begin = block->used_bytes;
    block->used_bytes += size_bytes;
    if (block->capacity_bytes >= HUGE_PAGE_BYTES)
        huge_ask(block->data, begin, block->used_bytes, HUGE_FROM_BYTES);
    return block->data + begin;
}

void *packs_get(struct packs *packs, const struct op *op, uint32_t layout, size_t size_bytes,
                bool *is_new, struct irrun_error *err)
{
    *is_new = false;
    for (struct pack *pack = packs->first; pack; pack = pack->next)
        if (pack->op == op && pack->layout == layout)
            return pack->data;
    struct pack *pack = malloc(sizeof *pack);
    void *data = pack ? allocate(packs, size_bytes) : NULL;
    if (!data) {
        free(pack);
        fail_memory(err, size_bytes);
        return NULL;
    }
    *pack = (struct pack){packs->first, op, layout, data};
    packs->first = pack;
    *is_new = true;
    return data;
}

void packs_drop(struct packs *packs, const struct pack *mark)
{
    while (packs->first != mark) {
        struct pack *pack = packs->first;
        packs->first = pack->next;
        free(pack);
    }
}

void packs_free(struct packs *packs)
{
    packs_drop(packs, NULL);
    while (packs->blocks) {
        struct pack_block *block = packs->blocks;
        packs->blocks = block->next;
        free(block->data);
        free(block);
    }
}
