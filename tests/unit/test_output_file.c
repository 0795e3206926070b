/* base/output_file: files appear complete or not at all; patches, links, directories; pipes get
 * whole records.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/output_file.h"
#include "base/signal_flush.h"

static void open_output(struct output_file *out, const char *name)
{
    assert_fine(output_file_open(out, in_directory(name), &err));
}

static void write_text(struct output_file *out, const char *text)
{
    assert_fine(output_file_write(out, text, strlen(text), &err));
}

static void appears_when_it_is_finished(void **state)
{
    (void)state;
    struct output_file out;
    open_output(&out, "x");
    write_text(&out, "one ");
    write_text(&out, "two");
    assert_int_equal(out.offset, 7);
    assert_int_not_equal(access(in_directory("x"), F_OK), 0);
    assert_fine(output_file_finish(&out, &err));
    assert_text_file(in_directory("x"), "one two");
    output_file_abort(&out);
    output_file_abort(&out);
}

static void has_the_rights_of_any_new_file(void **state)
{
    (void)state;
    struct output_file out;
    struct stat status;
    mode_t mask = umask(027);
    open_output(&out, "x");
    assert_fine(output_file_finish(&out, &err));
    umask(mask);
    assert_int_equal(stat(in_directory("x"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    remove(in_directory("x"));
}

static void writes_any_amount_and_patches_it(void **state)
{
    (void)state;
    enum { N = 300000 };
    unsigned char *data = malloc(N);
    assert_non_null(data);
    for (size_t i = 0; i < N; i++)
        data[i] = (unsigned char)(i * 31 >> 3);
    struct output_file out;
    open_output(&out, "x");
    size_t at = 0;
    for (size_t step = 1; at < N; step = step * 3 % 100003) {
        size_t n = step < N - at ? step : N - at;
        assert_fine(output_file_write(&out, data + at, n, &err));
        at += n;
    }
    for (size_t offset = 0; offset + 10 < N; offset += 70000) {
        memset(data + offset, 'p', 10);
        assert_fine(output_file_patch(&out, offset, "pppppppppp", 10, &err));
    }
    assert_fine(output_file_write(&out, "", 0, &err));
    assert_fine(output_file_finish(&out, &err));
    assert_file(in_directory("x"), data, N);
    free(data);
}

static void follows_symbolic_links(void **state)
{
    (void)state;
    struct output_file out;
    struct stat status;
    put_file(in_directory("target"), "old", 3);
    assert_int_equal(symlink("target", in_directory("link")), 0);
    open_output(&out, "link");
    write_text(&out, "new");
    assert_fine(output_file_finish(&out, &err));
    assert_int_equal(lstat(in_directory("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    remove(in_directory("link"));
    assert_text_file(in_directory("target"), "new");
}

static void writes_devices_directly(void **state)
{
    (void)state;
    struct output_file out;
    assert_fine(output_file_open(&out, "/dev/null", &err));
    assert_true(out.is_direct);
    write_text(&out, "gone");
    assert_fine(output_file_finish(&out, &err));
    assert_fine(output_file_open(&out, "/dev/full", &err));
    write_text(&out, "no room");
    assert_failed(output_file_flush(&out, &err), IRRUN_IO, "No space left");
    output_file_abort(&out);
    struct stat status;
    assert_int_equal(stat("/dev/full", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

static void refuses_what_cannot_be_created(void **state)
{
    (void)state;
    struct output_file out;
    assert_failed(output_file_open(&out, in_directory("no/directory"), &err), IRRUN_CANT_CREATE,
                  "No such file");
    output_file_abort(&out);
    assert_failed(output_file_open(&out, directory, &err), IRRUN_CANT_CREATE, "Is a directory");
    output_file_abort(&out);
    assert_failed(output_file_open(&out, "", &err), IRRUN_CANT_CREATE, "cannot be created");
    output_file_abort(&out);
}

static void leaves_nothing_if_the_end_fails(void **state)
{
    (void)state;
    struct output_file out;
    open_output(&out, "x");
    write_text(&out, "text");
    assert_int_equal(mkdir(in_directory("x"), 0700), 0); /* no file can take its name now */
    assert_failed(output_file_finish(&out, &err), IRRUN_CANT_CREATE, "cannot be created");
    assert_int_equal(rmdir(in_directory("x")), 0);
    assert_int_equal(count_files(), 0);
}

static void is_finished_without_a_free_descriptor(void **state)
{
    (void)state;
    struct output_file out;
    struct rlimit before, full;
    open_output(&out, "x");
    write_text(&out, "all");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    full = before;
    full.rlim_cur = (rlim_t)out.fd + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
    bool is_finished = output_file_finish(&out, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_fine(is_finished);
    assert_text_file(in_directory("x"), "all");
}

static void an_unnamed_file_leaves_no_trace(void **state)
{
    (void)state;
    int fd;
    assert_fine(output_file_open_unnamed(in_directory("x"), &fd, &err));
    assert_int_equal(write(fd, "abc", 3), 3);
    assert_int_equal(count_files(), 0);
    close(fd);
    assert_failed(output_file_open_unnamed(in_directory("no/directory"), &fd, &err),
                  IRRUN_CANT_CREATE, "cannot be created");
}

/* ---- Whole records --------------------------------------------------------------------------- */

/* Makes a named pipe for output_file_open; *reading is its other end. */
static const char *make_pipe(int *reading)
{
    static char path[32];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *reading = ends[0];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    return path;
}

static size_t read_all(int fd, char *text, size_t size_bytes)
{
    size_t length = 0;
    ssize_t n;
    while ((n = read(fd, text + length, size_bytes - length)) > 0)
        length += (size_t)n;
    close(fd);
    return length;
}

static void an_abort_sends_whole_records(void **state)
{
    (void)state;
    struct output_file out;
    char text[16];
    int reading;
    const char *path = make_pipe(&reading);
    assert_fine(output_file_open(&out, path, &err));
    close(atoi(strrchr(path, '/') + 1));
    write_text(&out, "one ");
    write_text(&out, "record");
    output_file_end_record(&out);
    write_text(&out, "half");
    output_file_abort(&out);
    assert_int_equal(read_all(reading, text, sizeof text), 10);
    assert_memory_equal(text, "one record", 10);
}

static void a_full_buffer_is_sent_up_to_the_last_whole_record(void **state)
{
    (void)state;
    enum { RECORD = 1000, N_PIECES = 130 }; /* two pieces make a record: 65,000 bytes */
    static char piece[RECORD / 2], text[200 * RECORD];
    struct output_file out;
    int reading;
    const char *path = make_pipe(&reading);
    assert_fine(output_file_open(&out, path, &err));
    close(atoi(strrchr(path, '/') + 1));
    for (size_t i = 0; i < N_PIECES + 3; i++) {
        assert_fine(output_file_write(&out, piece, sizeof piece, &err));
        if (i % 2 == 1)
            output_file_end_record(&out);
    }
    assert_int_equal(read(reading, text, sizeof text) % RECORD, 0);
    output_file_abort(&out);
    read_all(reading, text, sizeof text);
}

static void end_by_signal(int number)
{
    if (signal_buffers_flush(number))
        _exit(0);
}

/* Returns the bytes in the pipe after a signal ended the process that wrote them. */
static size_t sent_before_the_end(bool is_locked, char *text, size_t size_bytes)
{
    int reading;
    const char *path = make_pipe(&reading);
    pid_t child = fork();
    if (child == 0) {
        struct output_file out;
        char large[70000] = "large";
        signal(SIGUSR1, end_by_signal);
        close(reading);
        if (!output_file_open(&out, path, &err))
            _exit(1);
        write_text(&out, "one record, ");
        output_file_end_record(&out);
        if (is_locked) {
            write_text(&out, "two: ");
            output_file_write(&out, large, sizeof large, &err); /* half is in the pipe */
        }
        raise(SIGUSR1);
        write_text(&out, "end");
        output_file_end_record(&out);
        _exit(2);
    }
    close(atoi(strrchr(path, '/') + 1));
    size_t n = read_all(reading, text, size_bytes);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return n;
}

static void a_signal_sends_whole_records(void **state)
{
    (void)state;
    static char text[100000];
    assert_int_equal(sent_before_the_end(false, text, sizeof text), 12);
    assert_memory_equal(text, "one record, ", 12);
}

static void a_signal_waits_for_the_end_of_a_record_that_is_half_out(void **state)
{
    (void)state;
    static char text[100000];
    assert_int_equal(sent_before_the_end(true, text, sizeof text), 12 + 5 + 70000 + 3);
    assert_memory_equal(text + 17 + 70000, "end", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(appears_when_it_is_finished, clear_error),
        cmocka_unit_test_setup(has_the_rights_of_any_new_file, clear_error),
        cmocka_unit_test_setup(writes_any_amount_and_patches_it, clear_error),
        cmocka_unit_test_setup(follows_symbolic_links, clear_error),
        cmocka_unit_test_setup(writes_devices_directly, clear_error),
        cmocka_unit_test_setup(refuses_what_cannot_be_created, clear_error),
        cmocka_unit_test_setup(leaves_nothing_if_the_end_fails, clear_error),
        cmocka_unit_test_setup(is_finished_without_a_free_descriptor, clear_error),
        cmocka_unit_test_setup(an_unnamed_file_leaves_no_trace, clear_error),
        cmocka_unit_test_setup(an_abort_sends_whole_records, clear_error),
        cmocka_unit_test_setup(a_full_buffer_is_sent_up_to_the_last_whole_record, clear_error),
        cmocka_unit_test_setup(a_signal_sends_whole_records, clear_error),
        cmocka_unit_test_setup(a_signal_waits_for_the_end_of_a_record_that_is_half_out,
                               clear_error),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
