/* Counts the CPUs that this process may use.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_CPU_COUNT_H
#define IRRUN_BASE_CPU_COUNT_H

/* Returns the number of CPUs in the affinity mask, or the CPU quota of the cgroup, rounded up, if
 * that is lower; at least 1. Reads files, so call it once. */
unsigned count_cpus(void);

/* Returns the lowest CPU quota of a cgroup and its parents, rounded up, or 0 if none has a quota.
 * cgroup_visit explains the arguments. */
unsigned count_quota_cpus(const char *membership, const char *root);

#endif
