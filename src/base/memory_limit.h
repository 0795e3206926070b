/* The memory limit of the machine or of the cgroup. Sizes from files are compared with it before an
 * allocation, because the kernel overcommits: it kills the process only when the memory is used.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_MEMORY_LIMIT_H
#define IRRUN_BASE_MEMORY_LIMIT_H

#include <stddef.h>

#include "base/error.h"

/* Returns the limit in bytes, or SIZE_MAX if it is unknown. Queries the system once. */
size_t memory_limit(void);

/* Returns the least limit of a cgroup and its parents, or SIZE_MAX if there is none. For the
 * arguments see cgroup_visit. */
size_t cgroup_memory_limit(const char *membership, const char *root);

/* Sets the limit to size_bytes if that is lower. 0 changes nothing. */
void memory_limit_lower(size_t size_bytes);

/* Fails with IRRUN_SYSTEM if used_bytes + more_bytes exceeds the limit; the message has both
 * numbers. The call is cheap for small sizes. */
bool memory_check(size_t used_bytes, size_t more_bytes, struct irrun_error *err);

#endif
