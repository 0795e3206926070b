/* The memory limit: that of the machine or of its cgroup. A size from a file above the limit is
 * refused before it is allocated: the kernel would overcommit it, and kill the process when it is
 * used.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_MEMORY_LIMIT_H
#define IRRUN_BASE_MEMORY_LIMIT_H

#include <stddef.h>

#include "base/error.h"

/* Bytes; SIZE_MAX if unknown. Reads it from the system once. */
size_t memory_limit(void);

/* Lowers the limit, if size_bytes is less. 0 changes nothing. */
void memory_limit_lower(size_t size_bytes);

/* False, with IRRUN_SYSTEM and both numbers, if used_bytes + more_bytes is above the limit. Cheap
 * for small sizes. */
bool memory_check(size_t used_bytes, size_t more_bytes, struct irrun_error *err);

#endif
