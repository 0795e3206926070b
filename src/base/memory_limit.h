/* Finds the memory limit of the machine or the cgroup. Callers compare sizes from files with it
 * before they allocate, because the kernel overcommits: malloc succeeds, and the process is killed
 * when it uses the memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_MEMORY_LIMIT_H
#define IRRUN_BASE_MEMORY_LIMIT_H

#include <stddef.h>

#include "base/error.h"

/* Returns the limit in bytes, or SIZE_MAX if it is unknown. Queries the system once. */
size_t memory_limit(void);

/* Returns the lowest memory limit of a cgroup and its parents, in bytes, or SIZE_MAX if none has a
 * limit. cgroup_visit explains the arguments. */
size_t cgroup_memory_limit(const char *membership, const char *root);

/* Sets the limit to size_bytes if that is lower. 0 changes nothing. */
void memory_limit_lower(size_t size_bytes);

/* Fails with IRRUN_SYSTEM if used_bytes + more_bytes exceeds the limit; the message gives both
 * sizes. Always succeeds if more_bytes is below 16 MB, without reading the limit. */
bool memory_check(size_t used_bytes, size_t more_bytes, struct irrun_error *err);

#endif
