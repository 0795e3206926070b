/* Aligns large blocks to pages of 2 MB, and requests huge pages for them with madvise.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/huge_pages.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/checked.h"
#include "base/memory_limit.h"

#define LINE_BYTES ((size_t)64)

/* Memory reserved for later growth is at most memory_limit() / PREFERRED_DIVISOR, because other
 * allocations follow. */
#define PREFERRED_DIVISOR 8

void huge_advise(void *block, size_t begin, size_t end, size_t min_bytes)
{
    size_t page = begin / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    for (; page < end; page += HUGE_PAGE_BYTES) {
        size_t from = page > begin ? page : begin, next = page + HUGE_PAGE_BYTES;
        if ((next < end ? next : end) - from >= min_bytes)
            madvise((unsigned char *)block + page, HUGE_PAGE_BYTES, MADV_HUGEPAGE);
    }
}

void *huge_reserve(size_t *size_bytes)
{
    size_t wanted = *size_bytes > 0 ? *size_bytes : 1, whole_bytes;
    size_t unit = wanted > HUGE_PAGE_BYTES - LINE_BYTES ? HUGE_PAGE_BYTES : LINE_BYTES;
    void *data = NULL;

    if (!checked_round_up(wanted, unit, &whole_bytes) ||
        posix_memalign(&data, unit, whole_bytes) != 0)
        return NULL;
    *size_bytes = whole_bytes;
    return data;
}

void *huge_alloc(size_t size_bytes)
{
    size_t whole_bytes = size_bytes;
    void *data = huge_reserve(&whole_bytes);

    if (data && size_bytes >= HUGE_PAGE_BYTES)
        huge_advise(data, 0, size_bytes, HUGE_PAGE_BYTES / 2);
    return data;
}

/* Allocates size_bytes. Returns NULL with *err filled if the limit does not allow it, and with *err
 * clear if the allocation fails. */
static void *alloc_within(size_t used_bytes, size_t size_bytes, struct irrun_error *err)
{
    error_clear(err);
    return memory_check(used_bytes, size_bytes, err) ? huge_alloc(size_bytes) : NULL;
}

void *huge_alloc_at_least(size_t used_bytes, size_t min_bytes, size_t preferred_bytes,
                          size_t *size_bytes, struct irrun_error *err)
{
    bool is_preferred =
        preferred_bytes > min_bytes && preferred_bytes <= memory_limit() / PREFERRED_DIVISOR;
    size_t taken = is_preferred ? preferred_bytes : min_bytes;
    void *data = alloc_within(used_bytes, taken, err);

    if (!data && is_preferred) {
        taken = min_bytes;
        data = alloc_within(used_bytes, taken, err);
    }
    if (!data) {
        if (err->code == IRRUN_OK)
            fail_memory(err, min_bytes);
        return NULL;
    }
    error_clear(err);
    *size_bytes = taken;
    return data;
}
