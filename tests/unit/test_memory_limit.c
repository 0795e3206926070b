/* base/memory_limit: sizes above the limit are rejected before an allocation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/memory_limit.h"
#include "cgroup_tree.h"

static void the_limit_is_no_more_than_the_machine_has(void **state)
{
    (void)state;
    size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    assert_true(memory_limit() > 0);
    assert_true(memory_limit() <= machine);
}

static size_t limit(const char *membership)
{
    char path[2 * PATH_MAX];
    write_file("membership", membership);
    path_of(path, "membership");
    return cgroup_memory_limit(path, root);
}

static void a_group_has_the_least_limit_of_all_groups_around(void **state)
{
    (void)state;
    make_root();
    run_on("mkdir -p", "a/b");
    run_on("mkdir -p", "memory/c");
    assert_true(limit("0::/a/b\n") == SIZE_MAX);
    write_file("a/b/memory.max", "max\n");
    write_file("a/memory.max", "3000000\n");
    assert_true(limit("0::/a/b\n") == 3000000);
    write_file("a/b/memory.max", "2000000\n");
    assert_true(limit("0::/a/b\n") == 2000000);
    assert_true(limit("0::/a\n") == 3000000);
    write_file("memory.max", "1000000\n");
    assert_true(limit("0::/a/b\n") == 1000000);
    write_file("memory.max", "max\n");
    write_file("memory/c/memory.limit_in_bytes", "5000000\n");
    write_file("memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(limit("4:cpu:/x\n3:memory:/c\n") == 5000000);
    write_file("memory/memory.limit_in_bytes", "4000000\n");
    assert_true(cgroup_memory_limit("/not/there", root) == 4000000);
    run_on("rm -r", "");
    assert_true(cgroup_memory_limit("/not/there", root) == SIZE_MAX);
}

static void sums_beyond_the_limit_are_refused_with_both_numbers(void **state)
{
    (void)state;
    struct irrun_error err;
    error_clear(&err);
    assert_true(memory_check(0, memory_limit(), &err));
    assert_true(memory_check(SIZE_MAX, 1, &err));
    assert_false(memory_check(memory_limit() / 2, memory_limit() / 2 + 2, &err));
    assert_int_equal(err.code, IRRUN_SYSTEM);
    assert_non_null(strstr(err.message, "GB of memory are needed, but only"));
    error_clear(&err);
    assert_false(memory_check(SIZE_MAX, SIZE_MAX, &err));
}

static void an_arena_gives_no_more_than_there_is(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct irrun_error err;
    error_clear(&err);
    assert_null(arena_alloc(&arena, memory_limit() + 1, &err));
    assert_int_equal(err.code, IRRUN_SYSTEM);
    arena_free(&arena);
}

static void the_limit_can_only_be_lowered(void **state)
{
    (void)state;
    struct irrun_error err;
    size_t machine = memory_limit();
    error_clear(&err);
    memory_limit_lower(0);
    memory_limit_lower(SIZE_MAX);
    assert_true(memory_limit() == machine);
    memory_limit_lower(50000000);
    assert_true(memory_check(0, 50000000, &err));
    assert_false(memory_check(0, 50000001, &err));
    assert_non_null(strstr(err.message, "MB of memory are needed, but only 50.0 MB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_no_more_than_the_machine_has),
        cmocka_unit_test(a_group_has_the_least_limit_of_all_groups_around),
        cmocka_unit_test(sums_beyond_the_limit_are_refused_with_both_numbers),
        cmocka_unit_test(an_arena_gives_no_more_than_there_is),
        cmocka_unit_test(the_limit_can_only_be_lowered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
