/* Memory that is read and written from end to end, in pages of 2 MB where the kernel has them: a
 * page of 4 KB costs 1.7 us at its first touch and an address translation at every pass, one of 2
 * MB 45 us and hardly any; a Select over 200 MB takes half the time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_HUGE_PAGES_H
#define IRRUN_BASE_HUGE_PAGES_H

#include <stddef.h>

#include "base/error.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* size_bytes of memory, 64-byte aligned, for free(); NULL if there is none. Below a page it is
 * ordinary; above, a last page that is not half full is. */
void *huge_alloc(size_t size_bytes);

/* preferred_bytes of it if that is an eighth of all memory at most and can be allocated beside the
 * used_bytes that the caller has, or else least_bytes; *size_bytes is which. NULL if neither can
 * be, with *err filled, which tells of least_bytes. */
void *huge_alloc_at_least(size_t used_bytes, size_t least_bytes, size_t preferred_bytes,
                          size_t *size_bytes, struct irrun_error *err);

/* Memory likewise, *size_bytes rounded up to whole lines or pages, but no page is asked for yet. */
void *huge_reserve(size_t *size_bytes);

/* Asks for the pages that bytes [begin, end) of a block fill to `least_bytes` or more. The block
 * begins at a multiple of HUGE_PAGE_BYTES and consists of whole pages. */
void huge_ask(void *block, size_t begin, size_t end, size_t least_bytes);

#endif
