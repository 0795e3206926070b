/* Reads the memory limit of the machine and of its cgroup.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_limit.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/checked.h"

/* Smaller requests are left to malloc. */
#define SMALL_BYTES ((size_t)16 << 20)

/* Returns the limit of the cgroup, version 2 or 1. */
static size_t cgroup_limit(void)
{
    static const char *const paths[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        FILE *file = fopen(paths[i], "re");
        unsigned long long limit;
        if (file && fscanf(file, "%llu", &limit) == 1 && limit < least)
            least = (size_t)limit;
        if (file)
            fclose(file);
    }
    return least;
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
        size_t machine = machine_limit(), cgroup = cgroup_limit();
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
