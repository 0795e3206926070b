/* How many CPUs this process may use.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_CPU_COUNT_H
#define IRRUN_BASE_CPU_COUNT_H

/* The CPUs that the scheduler gives it, and no more than the quota of its cgroup buys, rounded up;
 * at least 1. Reads files: to be asked once. */
unsigned count_cpus(void);

/* What the quota of a cgroup buys, in CPUs rounded up; 0 if there is none. membership: a file like
 * /proc/self/cgroup; root: where the cgroup file systems are, like /sys/fs/cgroup. */
unsigned count_quota_cpus(const char *membership, const char *root);

#endif
