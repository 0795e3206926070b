/* Finds the directories of the cgroups (version 2 or 1) that limit this process.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_CGROUP_H
#define IRRUN_BASE_CGROUP_H

#include <stdbool.h>

typedef void cgroup_visit_fn(void *context, const char *directory);

/* Calls `visit` for the directory of this process's group under `controller`, and for its parents
 * up to the root, because the limit of a group also limits its subgroups. `membership` is a file
 * such as /proc/self/cgroup, `root` the mount point of the cgroup file systems, such as
 * /sys/fs/cgroup. If `membership` does not exist, visits only the root. Some of the directories may
 * not exist. */
void cgroup_visit(const char *membership, const char *root, const char *controller,
                  cgroup_visit_fn *visit, void *context);

/* Reads one or two numbers from a file such as "150000 100000", "max 100000" or "-1". Returns false
 * if one is missing. `second` may be NULL. */
bool cgroup_read(const char *directory, const char *name, long long *first, long long *second);

#endif
