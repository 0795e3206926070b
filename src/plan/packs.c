/* Packs lie one behind the other in blocks of whole 2 MB pages, and the kernel is asked for such pages where a
 * pack fills enough of one: a page of 4 KB costs 1.7 us at its first touch, one of 2 MB 45 us, and
 * weights that are read from end to end again and again need few address translations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/packs.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/checked.h"

#define LINE_BYTES ((size_t)64)
#define HUGE_BYTES ((size_t)2 << 20)

/* So much of a 2 MB page in one pack is worth it: 64 faults less. */
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

/* Where the 2 MB page begins that holds the byte at `at` of a block. */
static size_t page_of(size_t at)
{
    return at / HUGE_BYTES * HUGE_BYTES;
}

static void ask_for_huge_pages(const struct pack_block *block, size_t begin, size_t end)
{
#ifdef MADV_HUGEPAGE
    for (size_t page = page_of(begin); page < end; page += HUGE_BYTES) {
        size_t from = page > begin ? page : begin, next = page + HUGE_BYTES;
        if ((next < end ? next : end) - from >= HUGE_FROM_BYTES)
            madvise(block->data + page, HUGE_BYTES, MADV_HUGEPAGE);
    }
#else
    (void)block, (void)begin, (void)end;
#endif
}

static struct pack_block *add_block(struct packs *packs, size_t size_bytes)
{
    struct pack_block *block = malloc(sizeof *block);
    size_t capacity_bytes;
    void *data = NULL;

    if (!block || !checked_add(size_bytes, HUGE_BYTES - 1, &capacity_bytes) ||
        posix_memalign(&data, HUGE_BYTES, page_of(capacity_bytes)) != 0) {
        free(block);
        return NULL;
    }
    *block = (struct pack_block){packs->blocks, data, page_of(capacity_bytes), 0};
    packs->blocks = block;
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
    ask_for_huge_pages(block, begin, block->used_bytes);
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

void packs_free(struct packs *packs)
{
    while (packs->first) {
        struct pack *pack = packs->first;
        packs->first = pack->next;
        free(pack);
    }
    while (packs->blocks) {
        struct pack_block *block = packs->blocks;
        packs->blocks = block->next;
        free(block->data);
        free(block);
    }
}
