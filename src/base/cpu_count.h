/* The number of CPUs that this process may use.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_CPU_COUNT_H
#define IRRUN_BASE_CPU_COUNT_H

/* Returns the number of CPUs that this process may use: those of its affinity mask, but at most the
 * quota of its cgroup rounded up, and at least 1. Reads files, so call it once. */
unsigned count_cpus(void);

/* Returns the quota of a cgroup in CPUs, rounded up, or 0 if it has none. `membership` is a file
 * such as /proc/self/cgroup, `root` the mount point of the cgroup file systems, such as
 * /sys/fs/cgroup. */
unsigned count_quota_cpus(const char *membership, const char *root);

#endif
