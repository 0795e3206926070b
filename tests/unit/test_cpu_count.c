/* base/cpu_count: the quotas of cgroups of both versions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <sched.h>

#include "base/cpu_count.h"
#include "cgroup_tree.h"

static unsigned quota(const char *membership)
{
    char path[2 * PATH_MAX];
    write_file("membership", membership);
    path_of(path, "membership");
    return count_quota_cpus(path, root);
}

static int make_tree(void **state)
{
    (void)state;
    make_root();
    run_on("mkdir -p", "a/b");
    run_on("mkdir -p", "cpu,cpuacct/c");
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    run_on("rm -r", "");
    return 0;
}

static void reads_a_quota_of_version_2(void **state)
{
    (void)state;
    write_file("a/b/cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 0);
    write_file("a/b/cpu.max", "150000 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 2);
    write_file("a/b/cpu.max", "20000 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 1);
    write_file("a/b/cpu.max", "junk\n");
    assert_int_equal(quota("0::/a/b\n"), 0);
    assert_int_equal(quota("0::/\n"), 0);
}

static void takes_the_least_of_all_groups_around(void **state)
{
    (void)state;
    write_file("a/b/cpu.max", "800000 100000\n");
    write_file("a/cpu.max", "300000 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 3);
    write_file("cpu.max", "100000 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 1);
    write_file("cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/a/b\n"), 3);
}

static void reads_a_quota_of_version_1(void **state)
{
    (void)state;
    write_file("cpu,cpuacct/c/cpu.cfs_quota_us", "-1\n");
    write_file("cpu,cpuacct/c/cpu.cfs_period_us", "50000\n");
    assert_int_equal(quota("4:memory:/x\n3:cpu,cpuacct:/c\n"), 0);
    write_file("cpu,cpuacct/c/cpu.cfs_quota_us", "200000\n");
    assert_int_equal(quota("4:memory:/x\n3:cpu,cpuacct:/c\n"), 4);
    assert_int_equal(quota("4:memory:/x\n3:cpuset:/c\n"), 0);
}

static void takes_what_it_cannot_read_for_no_quota(void **state)
{
    (void)state;
    assert_int_equal(quota(""), 0);
    assert_int_equal(quota("0::/not/there\n"), 0);
    assert_int_equal(quota("nothing like it\n::\n:\n"), 0);
    assert_int_equal(count_quota_cpus("/not/there", root), 0);
}

static void honours_affinity(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_true(count_cpus() >= 1);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(count_cpus(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_quota_of_version_2),
        cmocka_unit_test(takes_the_least_of_all_groups_around),
        cmocka_unit_test(reads_a_quota_of_version_1),
        cmocka_unit_test(takes_what_it_cannot_read_for_no_quota),
        cmocka_unit_test(honours_affinity),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
