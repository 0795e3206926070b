/* base/temporaries, through output_file: the files that a signal or a killed process leaves, two
 * processes with one target, reserved targets, files without a name.
 * SPDX-License-Identifier: Apache-2.0 */
/* link: -Wl,--wrap=open */
#include "format_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include "base/file_lock.h"
#include "base/output_file.h"
#include "base/temporaries.h"

static void open_output(struct output_file *out, const char *name)
{
    assert_fine(output_file_open(out, in_directory(name), &err));
}

static void write_text(struct output_file *out, const char *text)
{
    assert_fine(output_file_write(out, text, strlen(text), &err));
}

/* Runs a function in another process; returns its exit status. */
static int in_child(void (*act)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void leave_ten_unfinished_files(void)
{
    struct output_file outs[20];
    for (size_t i = 0; i < 20; i++) {
        char name[8];
        snprintf(name, sizeof name, "x%zu", i);
        if (!output_file_open(&outs[i], in_directory(name), &err))
            _exit(1);
    }
    for (size_t i = 0; i < 10; i++) {
        if (!output_file_finish(&outs[i], &err))
            _exit(2);
    }
    if (count_files() != 20)
        _exit(3);
    temporaries_remove_all();
}

static void a_signal_removes_what_is_unfinished(void **state)
{
    (void)state;
    assert_int_equal(in_child(leave_ten_unfinished_files), 0);
    assert_int_equal(count_files(), 10);
    for (size_t i = 0; i < 10; i++) {
        char name[8];
        snprintf(name, sizeof name, "x%zu", i);
        assert_int_equal(remove(in_directory(name)), 0);
    }
}

/* Returns the path of the only file in the directory. */
static const char *only_file(void)
{
    static char path[300];
    DIR *stream = opendir(directory);
    assert_non_null(stream);
    path[0] = '\0';
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    }
    closedir(stream);
    return path;
}

static void find_another_file_in_its_place(void)
{
    struct output_file out;
    if (!output_file_open(&out, in_directory("x"), &err))
        _exit(1);
    unlink(out.temporary);
    put_file(out.temporary, "another's", 9);
    temporaries_remove_all();
}

static void a_signal_removes_no_file_of_another_process(void **state)
{
    (void)state;
    assert_int_equal(in_child(find_another_file_in_its_place), 0);
    assert_text_file(only_file(), "another's");
}

/* ---- Two processes --------------------------------------------------------------------------- */

static void expect_refusal(void)
{
    struct output_file out;
    char words[64];
    snprintf(words, sizeof words, "is being written by process %ld", (long)getppid());
    if (output_file_open(&out, in_directory("x"), &err))
        _exit(1);
    _exit(err.code == IRRUN_CANT_CREATE && strcmp(err.message, words) == 0 ? 0 : 2);
}

static void a_file_has_one_writer_at_a_time(void **state)
{
    (void)state;
    struct output_file out, second;
    open_output(&out, "x");
    write_text(&out, "first");
    assert_int_equal(in_child(expect_refusal), 0);
    assert_failed(output_file_open(&second, in_directory("./x"), &err), IRRUN_CANT_CREATE,
                  "is being written by process");
    output_file_abort(&second);
    error_clear(&err);
    assert_fine(output_file_finish(&out, &err));
    open_output(&second, "x");
    write_text(&second, "second");
    assert_fine(output_file_finish(&second, &err));
    assert_text_file(in_directory("x"), "second");
}

static void leave_unfinished(void)
{
    struct output_file out;
    if (!output_file_open(&out, in_directory("x"), &err))
        _exit(1);
}

static void what_a_killed_process_left_goes_with_the_next(void **state)
{
    (void)state;
    struct output_file out;
    assert_int_equal(in_child(leave_unfinished), 0);
    assert_int_equal(count_files(), 1);
    chmod(only_file(), 0400);
    open_output(&out, "x");
    assert_int_equal(count_files(), 1);
    output_file_abort(&out);
    assert_int_equal(count_files(), 0);
}

static void expect_lock(void)
{
    int fd = open(only_file(), O_RDWR);
    _exit(fd >= 0 && file_lock(fd) == EWOULDBLOCK ? 0 : 1);
}

static void a_reserved_file_is_locked_for_other_processes(void **state)
{
    (void)state;
    struct output_file out;
    assert_fine(output_file_reserve("-", &err));
    assert_fine(output_file_reserve("/dev/null", &err));
    assert_int_equal(count_files(), 0);
    assert_fine(output_file_reserve(in_directory("x"), &err));
    assert_int_equal(count_files(), 1);
    assert_int_equal(in_child(expect_lock), 0);
    open_output(&out, "./x");
    assert_int_equal(count_files(), 1);
    assert_int_equal(in_child(expect_lock), 0);
    write_text(&out, "mine");
    assert_fine(output_file_finish(&out, &err));
    assert_fine(output_file_reserve(in_directory("y"), &err));
    temporaries_release();
    assert_int_equal(count_files(), 1);
    assert_text_file(in_directory("x"), "mine");
    assert_failed(output_file_reserve(in_directory("no/directory"), &err), IRRUN_CANT_CREATE,
                  "No such file");
}

static void without_locks_each_process_has_its_own(void **state)
{
    (void)state;
    struct output_file out, second;
    open_output(&out, "x");
    const char *shared = strdup(only_file());
    output_file_abort(&out);
    assert_int_equal(mkdir(shared, 0700), 0); /* open fails, so the name cannot be locked */
    assert_fine(output_file_reserve(in_directory("x"), &err));
    open_output(&out, "x");
    open_output(&second, "x");
    assert_int_equal(count_files(), 3);
    write_text(&out, "first");
    output_file_abort(&second);
    assert_fine(output_file_finish(&out, &err));
    temporaries_release();
    assert_int_equal(rmdir(shared), 0);
    free((void *)(uintptr_t)shared);
    assert_text_file(in_directory("x"), "first");
}

/* ---- Without a name -------------------------------------------------------------------------- */

static bool lacks_unnamed_files; /* open fails with O_TMPFILE, and otherwise raises SIGUSR1 */
static int n_left = -1;          /* files in the directory when SIGUSR1 was handled */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (lacks_unnamed_files && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int fd = __real_open(path, flags, mode);
    if (lacks_unnamed_files)
        raise(SIGUSR1);
    return fd;
}

static void count_left(int number)
{
    (void)number;
    n_left = count_files();
}

static void an_unnamed_file_without_o_tmpfile_is_unlinked_before_a_signal(void **state)
{
    (void)state;
    struct stat status;
    signal(SIGUSR1, count_left);
    lacks_unnamed_files = true;
    int fd = temporary_create_unnamed(in_directory("x"));
    lacks_unnamed_files = false;
    assert_true(fd >= 0);
    assert_int_equal(n_left, 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_signal_removes_what_is_unfinished, clear_error),
        cmocka_unit_test_setup(a_signal_removes_no_file_of_another_process, clear_error),
        cmocka_unit_test_setup(a_file_has_one_writer_at_a_time, clear_error),
        cmocka_unit_test_setup(what_a_killed_process_left_goes_with_the_next, clear_error),
        cmocka_unit_test_setup(a_reserved_file_is_locked_for_other_processes, clear_error),
        cmocka_unit_test_setup(without_locks_each_process_has_its_own, clear_error),
        cmocka_unit_test(an_unnamed_file_without_o_tmpfile_is_unlinked_before_a_signal),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
