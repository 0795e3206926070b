/* The number of CPUs that this process may use.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_CPU_COUNT_H
#define IRRUN_BASE_CPU_COUNT_H

/* Returns the number of CPUs in the affinity mask, but at most the quota of the cgroup rounded up,
 * and at least 1. Reads files, so call it once. */
unsigned count_cpus(void);

/* Returns the least quota of a cgroup and its parents in CPUs, rounded up, or 0 if there is none.
 * For the arguments see cgroup_visit. */
unsigned count_quota_cpus(const char *membership, const char *root);

#endif
