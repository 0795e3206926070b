/* The number of CPUs that this process may use.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_CPU_COUNT_H
#define IRRUN_BASE_CPU_COUNT_H

/* The CPUs of its affinity mask, at most the quota of its cgroup rounded up; at least 1. Reads
 * files: call it once. */
unsigned count_cpus(void);

/* The quota of a cgroup in CPUs, rounded up; 0 if there is none. membership: a file like
 * /proc/self/cgroup; root: the mount point of the cgroup file systems, like /sys/fs/cgroup. */
unsigned count_quota_cpus(const char *membership, const char *root);

#endif
