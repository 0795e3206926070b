/* How much memory there can be at all: what the machine and its cgroup have. A size from a file
 * beyond that is refused before anything is allocated; the kernel would promise it, and kill us
 * when we use it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_MEMORY_LIMIT_H
#define IRRUN_BASE_MEMORY_LIMIT_H

#include <stddef.h>

#include "base/error.h"

/* Bytes; SIZE_MAX if it cannot be told. Asked of the system once. */
size_t memory_limit(void);

/* There is no more than this from now on, if it is less than so far. 0 changes nothing. */
void memory_limit_lower(size_t size_bytes);

/* False, with IRRUN_SYSTEM and both numbers, if used_bytes + more_bytes is beyond the limit. Cheap
 * for small sizes. */
bool memory_check(size_t used_bytes, size_t more_bytes, struct irrun_error *err);

#endif
