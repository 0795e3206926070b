/* Counts the CPUs that the scheduler and the quota of the cgroup (version 2 or 1) allow. The quota
 * of a group also limits its subgroups.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu_count.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

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

/* Reads one or two numbers from a file such as "150000 100000", "max 100000" or "-1". Returns false
 * if one is missing. */
static bool read_numbers(const char *directory, const char *name, long long *first,
                         long long *second)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool is_read =
        fscanf(file, "%lld", first) == 1 && (!second || fscanf(file, "%lld", second) == 1);
    fclose(file);
    return is_read;
}

/* Returns the quota of a group in CPUs, rounded up; 0 if it has none. */
static unsigned quota_of(const char *directory)
{
    long long quota, period;
    bool has_quota = read_numbers(directory, "cpu.max", &quota, &period) ||
                     (read_numbers(directory, "cpu.cfs_quota_us", &quota, NULL) &&
                      read_numbers(directory, "cpu.cfs_period_us", &period, NULL));
    if (!has_quota || quota <= 0 || period <= 0)
        return 0;
    long long n = quota / period + (quota % period > 0);
    return n < 1 << 20 ? (unsigned)n : 0;
}

/* Returns the smallest quota of the group and its parents up to the root; 0 if there is none. */
static unsigned min_quota(const char *root, const char *controller, const char *group)
{
    char directory[PATH_BYTES];
    int length = snprintf(directory, sizeof directory, "%s%s%s%s", root, *controller ? "/" : "",
                          controller, group);
    if (length < 0 || (size_t)length >= sizeof directory)
        return 0;
    unsigned min = 0;
    for (size_t end = strlen(root); strlen(directory) >= end;) {
        unsigned quota = quota_of(directory);
        min = quota > 0 && (min == 0 || quota < min) ? quota : min;
        char *slash = strrchr(directory, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    return min;
}

static bool lists_cpu(char *controllers)
{
    char *rest = NULL;
    for (char *word = strtok_r(controllers, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (strcmp(word, "cpu") == 0)
            return true;
    return false;
}

unsigned count_quota_cpus(const char *membership, const char *root)
{
    FILE *file = fopen(membership, "re");
    char line[PATH_BYTES];
    unsigned min = 0;
    if (!file)
        return 0;
    /* A line is "0::GROUP" in version 2, "7:cpu,cpuacct:GROUP" in version 1. */
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = '\0';
        *group++ = '\0';
        char copy[PATH_BYTES];
        snprintf(copy, sizeof copy, "%s", controllers);
        if (*controllers != '\0' && !lists_cpu(copy))
            continue;
        unsigned quota = min_quota(root, controllers, group);
        min = quota > 0 && (min == 0 || quota < min) ? quota : min;
    }
    fclose(file);
    return min;
}

unsigned count_cpus(void)
{
    unsigned n = count_affinity();
    unsigned quota = count_quota_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    return quota > 0 && quota < n ? quota : n;
}
