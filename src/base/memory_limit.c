/* Reads the memory size of the machine and the memory limit of the cgroup.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_limit.h"

#include <stdint.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/checked.h"

/* Smaller requests are left to malloc. */
#define SMALL_BYTES ((size_t)16 << 20)

/* Sets *min to the memory limit of a cgroup, version 2 or 1, if that is lower. */
static void lower_to_limit(void *context, const char *directory)
{
    size_t *min = context;
    long long limit;
    bool has_limit = cgroup_read(directory, "memory.max", &limit, NULL) ||
                     cgroup_read(directory, "memory.limit_in_bytes", &limit, NULL);
    if (has_limit && limit > 0 && (unsigned long long)limit < *min)
        *min = (size_t)limit;
}

size_t cgroup_memory_limit(const char *membership, const char *root)
{
    size_t min = SIZE_MAX;
    cgroup_visit(membership, root, "memory", lower_to_limit, &min);
    return min;
}

static size_t machine_limit(void)
{
    long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    size_t size_bytes;
    if (n_pages <= 0 || page_bytes <= 0 ||
        !checked_mul((size_t)n_pages, (size_t)page_bytes, &size_bytes))
        return SIZE_MAX;
    return size_bytes;
}

static size_t known_limit; /* 0: not read yet; all threads would store the same value */

size_t memory_limit(void)
{
    if (__atomic_load_n(&known_limit, __ATOMIC_RELAXED) == 0) {
        size_t machine = machine_limit();
        size_t cgroup = cgroup_memory_limit("/proc/self/cgroup", "/sys/fs/cgroup");
        __atomic_store_n(&known_limit, machine < cgroup ? machine : cgroup, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&known_limit, __ATOMIC_RELAXED);
}

void memory_limit_lower(size_t size_bytes)
{
    if (size_bytes > 0 && size_bytes < memory_limit())
        __atomic_store_n(&known_limit, size_bytes, __ATOMIC_RELAXED);
}

bool memory_check(size_t used_bytes, size_t more_bytes, struct irrun_error *err)
{
    size_t sum;
    if (more_bytes < SMALL_BYTES)
        return true;
    if (checked_add(used_bytes, more_bytes, &sum) && sum <= memory_limit())
        return true;
    double needed = (double)used_bytes + (double)more_bytes, limit = (double)memory_limit();
    bool is_large = limit >= 1e9;
    const char *unit = is_large ? "GB" : "MB";
    double unit_bytes = is_large ? 1e9 : 1e6;
    return fail(err, IRRUN_SYSTEM, "%.1f %s of memory are needed, but only %.1f %s are available",
                needed / unit_bytes, unit, limit / unit_bytes, unit);
}
