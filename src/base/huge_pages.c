/* Asks the kernel for pages of 2 MB.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/huge_pages.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/checked.h"

#define LINE_BYTES ((size_t)64)

/* Where the page begins that holds byte `at`. */
static size_t page_of(size_t at)
{
    return at / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
}

void huge_ask(void *block, size_t begin, size_t end, size_t least_bytes)
{
#ifdef MADV_HUGEPAGE
    for (size_t page = page_of(begin); page < end; page += HUGE_PAGE_BYTES) {
        size_t from = page > begin ? page : begin, next = page + HUGE_PAGE_BYTES;
        if ((next < end ? next : end) - from >= least_bytes)
            madvise((unsigned char *)block + page, HUGE_PAGE_BYTES, MADV_HUGEPAGE);
    }
#else
    (void)block, (void)begin, (void)end, (void)least_bytes;
#endif
}

void *huge_alloc(size_t size_bytes)
{
    size_t alignment = size_bytes < HUGE_PAGE_BYTES ? LINE_BYTES : HUGE_PAGE_BYTES, whole_bytes;
    void *data = NULL;

    if (!checked_add(size_bytes > 0 ? size_bytes : 1, alignment - 1, &whole_bytes))
        return NULL;
    whole_bytes -= whole_bytes % alignment;
    if (posix_memalign(&data, alignment, whole_bytes) != 0)
        return NULL;
    if (size_bytes >= HUGE_PAGE_BYTES)
        huge_ask(data, 0, size_bytes, HUGE_PAGE_BYTES / 2);
    return data;
}
