/* Large memory in pages of 2 MB, where the kernel has them. A page of 4 KB costs 1.7 us at its
 * first touch and an address translation at every pass; a page of 2 MB costs 45 us and hardly any
 * translations. A Select over 200 MB takes half the time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_HUGE_PAGES_H
#define IRRUN_BASE_HUGE_PAGES_H

#include <stddef.h>

#include "base/error.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* size_bytes of memory, 64-byte aligned, for free(); NULL if there is none. Sizes below 2 MB, and a
 * last page that is less than half full, use ordinary pages. */
void *huge_alloc(size_t size_bytes);

/* Allocates preferred_bytes if that is at most an eighth of all memory and fits beside the caller's
 * used_bytes, or else min_bytes; *size_bytes is the size allocated. NULL if both fail, with *err
 * filled for min_bytes. */
void *huge_alloc_at_least(size_t used_bytes, size_t min_bytes, size_t preferred_bytes,
                          size_t *size_bytes, struct irrun_error *err);

/* Like huge_alloc, with *size_bytes rounded up to whole lines or pages, but asks for no page
 * yet. */
void *huge_reserve(size_t *size_bytes);

/* Asks for the pages of which bytes [begin, end) of a block fill `min_bytes` or more. The block
 * begins at a multiple of HUGE_PAGE_BYTES and consists of whole pages. */
void huge_advise(void *block, size_t begin, size_t end, size_t min_bytes);

#endif
