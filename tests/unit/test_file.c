/* base/file: mapping files, and detecting changes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mapping.h"

static char directory[] = "/tmp/irrun-test-file-XXXXXX";
static char path[64];

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && snprintf(path, sizeof path, "%s/x", directory) > 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static int remove_file(void **state)
{
    (void)state;
    remove(path);
    return 0;
}

static void write_file(const void *data, size_t size_bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

static void maps_every_byte(void **state)
{
    (void)state;
    unsigned char data[10001];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7);
    write_file(data, sizeof data);
    struct file_map map;
    struct irrun_error err;
    error_clear(&err);
    assert_true(file_map_open(&map, path, &err));
    assert_int_equal(map.size_bytes, sizeof data);
    assert_memory_equal(map.data, data, sizeof data);
    file_map_close(&map);
    assert_null(map.data);
    file_map_close(&map);
}

static void assert_opens(struct file_map *map)
{
    struct irrun_error err;
    error_clear(&err);
    assert_true(file_map_open(map, path, &err));
}

/* The file system has a coarse clock: two writes within a tick have the same time. */
static void wait_a_tick(void)
{
    usleep(20000);
}

static void assert_changed(struct file_map *map)
{
    struct irrun_error err;
    error_clear(&err);
    assert_false(file_map_check(map, &err));
    assert_int_equal(err.code, IRRUN_DATA);
    assert_string_equal(err.file, path);
    assert_string_equal(err.message, "was written to while it was in use");
    file_map_close(map);
}

enum { LARGE = 100000 };
static const unsigned char zeros[LARGE], ones[LARGE] = {1};

static void notices_that_a_mapped_file_was_written(void **state)
{
    (void)state;
    struct file_map map;
    struct irrun_error err;
    error_clear(&err);
    write_file(zeros, LARGE);
    assert_opens(&map);
    wait_a_tick();
    assert_true(file_map_check(&map, &err));
    write_file(ones, LARGE);
    assert_changed(&map);
    assert_opens(&map);
    assert_int_equal(truncate(path, LARGE - 1), 0);
    assert_changed(&map);
}

static void a_replaced_file_stays_whole(void **state)
{
    (void)state;
    struct file_map map;
    struct irrun_error err;
    error_clear(&err);
    write_file(ones, LARGE);
    assert_opens(&map);
    wait_a_tick();
    remove(path);
    write_file(zeros, LARGE);
    assert_true(file_map_check(&map, &err));
    assert_memory_equal(map.data, ones, LARGE);
    file_map_close(&map);
}

static void a_small_file_is_copied(void **state)
{
    (void)state;
    struct file_map map;
    struct irrun_error err;
    bool is_truncated;
    error_clear(&err);
    write_file(ones, 1000);
    assert_opens(&map);
    wait_a_tick();
    write_file(zeros, 10);
    assert_true(file_map_check(&map, &err));
    assert_memory_equal(map.data, ones, 1000);
    assert_null(mapping_find(map.data, &is_truncated));
    file_map_dontneed(&map, map.data, 1000);
    assert_memory_equal(map.data, ones, 1000);
    file_map_close(&map);
}

static void finds_the_file_of_an_address(void **state)
{
    (void)state;
    struct file_map maps[3];
    bool is_truncated = true;
    write_file(zeros, LARGE);
    for (int i = 0; i < 3; i++)
        assert_opens(&maps[i]);
    file_map_close(&maps[1]);
    assert_null(mapping_find(maps, &is_truncated));
    for (int i = 0; i < 3; i += 2) {
        assert_string_equal(mapping_find(maps[i].data, &is_truncated), path);
        assert_false(is_truncated);
        assert_non_null(mapping_find(maps[i].data + LARGE - 1, &is_truncated));
    }
    assert_int_equal(truncate(path, 0), 0);
    assert_opens(&maps[1]); /* empty: nothing is mapped */
    assert_string_equal(mapping_find(maps[2].data, &is_truncated), path);
    assert_true(is_truncated);
    const unsigned char *was = maps[2].data;
    for (int i = 0; i < 3; i++)
        file_map_close(&maps[i]);
    assert_null(mapping_find(was, &is_truncated));
}

/* Returns the resident file pages of this process, in KB. */
static long resident_kb(void)
{
    long kb = -1;
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    assert_non_null(status);
    while (kb < 0 && fgets(line, sizeof line, status))
        if (sscanf(line, "RssFile: %ld", &kb) != 1)
            kb = -1;
    fclose(status);
    return kb;
}

static void what_is_forgotten_is_not_held_and_can_be_read_again(void **state)
{
    (void)state;
    enum { SIZE = 4 << 20 };
    static unsigned char data[SIZE];
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (unsigned char)(i * 7 >> 3);
    write_file(data, SIZE);
    struct file_map map;
    struct irrun_error err;
    error_clear(&err);
    assert_true(file_map_open(&map, path, &err));
    assert_memory_equal(map.data, data, SIZE);
    long before = resident_kb();
    file_map_dontneed(&map, map.data + 5, SIZE - 5);
    assert_true(resident_kb() <= before - 3000);
    assert_memory_equal(map.data, data, SIZE);
    /* Ranges that are not in the mapping. */
    file_map_dontneed(&map, data, SIZE);
    file_map_dontneed(&map, map.data + 1, SIZE);
    file_map_dontneed(NULL, data, SIZE);
    for (size_t i = 0; i < SIZE; i++)
        assert_int_equal(data[i], (unsigned char)(i * 7 >> 3));
    file_map_close(&map);
}

static void empty_file_has_no_data(void **state)
{
    (void)state;
    write_file("", 0);
    struct file_map map;
    struct irrun_error err;
    error_clear(&err);
    assert_true(file_map_open(&map, path, &err));
    assert_int_equal(map.size_bytes, 0);
    assert_null(map.data);
    file_map_close(&map);
}

static void assert_refused(const char *name, const char *message)
{
    struct file_map map;
    struct irrun_error err;
    error_clear(&err);
    assert_false(file_map_open(&map, name, &err));
    assert_int_equal(err.code, IRRUN_NO_INPUT);
    assert_string_equal(err.file, name);
    assert_non_null(strstr(err.message, message));
    assert_null(map.data);
    file_map_close(&map);
}

static void refuses_what_does_not_exist(void **state)
{
    (void)state;
    assert_refused(path, "cannot be opened: ");
    assert_refused("", "cannot be opened: ");
}

static void refuses_a_directory(void **state)
{
    (void)state;
    assert_refused(directory, "not a regular file");
}

/* A plain open would wait for a writer forever. */
static void refuses_a_fifo_at_once(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10);
    assert_refused(path, "not a regular file");
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(maps_every_byte, remove_file),
        cmocka_unit_test_teardown(notices_that_a_mapped_file_was_written, remove_file),
        cmocka_unit_test_teardown(a_replaced_file_stays_whole, remove_file),
        cmocka_unit_test_teardown(a_small_file_is_copied, remove_file),
        cmocka_unit_test_teardown(finds_the_file_of_an_address, remove_file),
        cmocka_unit_test_teardown(what_is_forgotten_is_not_held_and_can_be_read_again, remove_file),
        cmocka_unit_test_teardown(empty_file_has_no_data, remove_file),
        cmocka_unit_test(refuses_what_does_not_exist),
        cmocka_unit_test(refuses_a_directory),
        cmocka_unit_test_teardown(refuses_a_fifo_at_once, remove_file),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
