/* Counts the CPUs that the scheduler and the quota of the cgroup allow.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu_count.h"

#include <sched.h>

#include "base/cgroup.h"

static unsigned count_affinity(void)
{
    for (int n = 1024; n <= 1 << 20; n *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)n);
        if (!set)
            return 1;
        size_t size_bytes = CPU_ALLOC_SIZE((size_t)n);
        CPU_ZERO_S(size_bytes, set);
        bool is_known = sched_getaffinity(0, size_bytes, set) == 0;
        int count = is_known ? CPU_COUNT_S(size_bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return (unsigned)count;
    }
    return 1;
}

/* Sets *min to the CPU quota of a group, rounded up, if the quota is lower or *min is 0, which
 * means that no group had a quota yet. */
static void lower_to_quota(void *context, const char *directory)
{
    unsigned *min = context;
    long long quota, period;
    bool has_quota = cgroup_read(directory, "cpu.max", &quota, &period) ||
                     (cgroup_read(directory, "cpu.cfs_quota_us", &quota, NULL) &&
                      cgroup_read(directory, "cpu.cfs_period_us", &period, NULL));
    if (!has_quota || quota <= 0 || period <= 0)
        return;
    long long n = quota / period + (quota % period > 0);
    if (n < 1 << 20 && (*min == 0 || n < *min))
        *min = (unsigned)n;
}

unsigned count_quota_cpus(const char *membership, const char *root)
{
    unsigned min = 0;
    cgroup_visit(membership, root, "cpu", lower_to_quota, &min);
    return min;
}

unsigned count_cpus(void)
{
    unsigned n = count_affinity();
    unsigned quota = count_quota_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    return quota > 0 && quota < n ? quota : n;
}
