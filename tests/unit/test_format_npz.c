/* npz: reads archives that NumPy writes, rejects other files, and writes the same bytes every time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format_files.h"

#include <fcntl.h>

static const float x[] = {0, 1, 2, 3, 4, 5};
static const int64_t steps[] = {-1, (int64_t)1 << 40};

static struct archive *open_archive(const char *path)
{
    struct archive *archive = NULL;
    assert_fine(archive_open(path, &archive, &err));
    return archive;
}

static void assert_member(struct archive *archive, const char *name, enum irrun_dtype dtype,
                          const char *shape, const void *want, size_t n)
{
    size_t index;
    struct reader *reader;
    assert_true(archive_find(archive, name, &index));
    const struct array_header *known = archive_member(archive, index);
    assert_string_equal(known->name, name);
    assert_header(known, dtype, shape);
    assert_fine(archive_open_member(archive, index, &reader, &err));
    struct array_header header = next_array(reader);
    assert_string_equal(header.name, name);
    assert_header(&header, dtype, shape);
    assert_elements(reader, dtype, want, n);
    assert_at_end(reader);
    reader_close(reader);
}

static void assert_both_members(struct archive *archive)
{
    size_t index;
    assert_int_equal(archive_n_members(archive), 2);
    assert_member(archive, "x", IRRUN_F32, "[2,3]", x, 6);
    assert_member(archive, "enc/steps", IRRUN_I64, "[2]", steps, 2);
    assert_false(archive_find(archive, "y", &index));
    assert_false(archive_find(archive, "", &index));
}

static void reads_what_numpy_writes(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA "stored.npz", DATA "deflated.npz", DATA "zip64.npz",
                                        DATA "zip64_directory.npz"};
    for (size_t i = 0; i < 4; i++) {
        struct archive *archive = open_archive(paths[i]);
        assert_both_members(archive);
        assert_string_equal(archive_comment(archive), i == 0 ? "made for a test" : "");
        archive_close(archive);
    }
}

static void reads_from_a_pipe(void **state)
{
    (void)state;
    char data[1024], path[32];
    size_t n = get_file(DATA "deflated.npz", data, sizeof data);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], data, n), n);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct archive *archive = open_archive(path);
    close(ends[0]);
    assert_both_members(archive);
    archive_close(archive);
}

static void reads_members_in_lock_step(void **state)
{
    (void)state;
    struct archive *archive = open_archive(DATA "deflated.npz");
    struct reader *readers[4];
    for (size_t i = 0; i < 4; i++) {
        assert_fine(archive_open_member(archive, i % 2, &readers[i], &err));
        next_array(readers[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_elements(readers[0], IRRUN_F32, x + 3 * i, 3);
        assert_elements(readers[1], IRRUN_I64, steps + i, 1);
        assert_elements(readers[2], IRRUN_F32, x + 3 * i, 3);
        assert_elements(readers[3], IRRUN_I64, steps + i, 1);
    }
    for (size_t i = 0; i < 4; i++)
        reader_close(readers[i]);
    archive_close(archive);
}

static void rewinds_a_member(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA "stored.npz", DATA "deflated.npz"};
    for (size_t i = 0; i < 2; i++) {
        struct archive *archive = open_archive(paths[i]);
        struct reader *reader;
        assert_fine(archive_open_member(archive, 0, &reader, &err));
        assert_true(reader_can_rewind(reader));
        for (size_t n = 0; n <= 6; n++) {
            next_array(reader);
            assert_elements(reader, IRRUN_F32, x, n);
            assert_fine(reader_rewind(reader, &err));
        }
        reader_close(reader);
        archive_close(archive);
    }
}

/* Names that are not ASCII, directories, members without ".npy", archives without members. */
static void reads_unusual_archives(void **state)
{
    (void)state;
    struct archive *archive = open_archive(DATA "utf8.npz");
    assert_int_equal(archive_n_members(archive), 2);
    assert_member(archive, "\xc3\xa9tat", IRRUN_F32, "[2,3]", x, 6);
    assert_member(archive, "bare", IRRUN_I64, "[2]", steps, 2);
    archive_close(archive);
    archive = open_archive(DATA "empty.npz");
    assert_int_equal(archive_n_members(archive), 0);
    assert_string_equal(archive_comment(archive), "");
    archive_close(archive);
}

static void assert_refused(const char *path, const char *part)
{
    struct archive *archive;
    assert_failed(archive_open(path, &archive, &err), IRRUN_DATA, part);
    assert_null(archive);
}

static void refuses_what_is_not_an_archive_of_arrays(void **state)
{
    (void)state;
    assert_refused(DATA "duplicate.npz", "two members \"x\"");
    assert_refused(DATA "stranger.npz", "is not an npy document");
    assert_refused(DATA "longer.npz", "longer than its array");
    assert_refused(DATA "shorter.npz", "1 of the 24 bytes of array [2,3] of f32 are missing");
    assert_refused(DATA "bzip2.npz", "compressed by method 12");
    assert_refused(DATA "fortran.npy", "is an npy document, not npz");
    struct archive *archive;
    assert_failed(archive_open(in_directory("nothing"), &archive, &err), IRRUN_NO_INPUT,
                  "cannot be opened");
}

static void refuses_every_truncation(void **state)
{
    (void)state;
    char data[1024];
    size_t n = get_file(DATA "stored.npz", data, sizeof data);
    const char *path = in_directory("cut");
    for (size_t length = 0; length < n; length++) {
        put_file(path, data, length);
        assert_refused(path, length == 0  ? "is empty; an npz archive was expected"
                             : length < 4 ? "is not an npz archive"
                                          : "the archive is truncated");
    }
    remove(path);
}

/* The archive has x, or is rejected with a message. */
static void assert_same_or_refused(const char *path)
{
    struct archive *archive;
    struct reader *reader = NULL;
    struct array_header header;
    float data[6];
    size_t index, n_read;
    bool is_end;
    if (archive_open(path, &archive, &err) && archive_find(archive, "x", &index) &&
        archive_open_member(archive, index, &reader, &err) &&
        reader_next(reader, &header, &is_end, &err) &&
        reader_read(reader, header.dtype, data, 6, &n_read, &err)) {
        assert_int_equal(n_read, 6);
        assert_memory_equal(data, x, sizeof data);
    }
    assert_true(err.code == IRRUN_OK || err.code == IRRUN_DATA);
    error_clear(&err);
    reader_close(reader);
    archive_close(archive);
}

static void survives_every_flipped_byte(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA "deflated.npz", DATA "zip64_directory.npz"};
    const char *path = in_directory("flipped");
    for (size_t i = 0; i < 2; i++) {
        char data[1024];
        size_t n = get_file(paths[i], data, sizeof data);
        for (size_t at = 0; at < n; at++) {
            char byte = data[at];
            data[at] = (char)(at % 3 == 0 ? ~byte : byte ^ 1 << at % 8);
            put_file(path, data, n);
            assert_same_or_refused(path);
            data[at] = byte;
        }
    }
    remove(path);
}

static void notices_a_wrong_checksum(void **state)
{
    (void)state;
    assert_refused(DATA "damaged.npz", "checksum");
}

/* ---- Writing --------------------------------------------------------------------------------- */

static const char *const names[] = {"y", "deep/\xc3\xa9"};

static void write_archive(const char *name, size_t n_records, enum writer_layout layout,
                          const char *comment)
{
    struct writer_options options = {
        .names = names, .n_outputs = 2, .layout = layout, .comment = comment};
    struct writer *writer = open_writer(destination("npz", name), &options);
    for (size_t i = 0; i < n_records; i++) {
        struct irrun_tensor y = tensor_of(IRRUN_F32, 2, (int64_t[]){1, 2}, x + i);
        struct irrun_tensor z = tensor_of(IRRUN_I64, 0, NULL, steps + i % 2);
        write_record(writer, 0, &y, "-", i);
        write_record(writer, 1, &z, "-", i);
    }
    assert_fine(writer_finish(writer, &err));
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    write_archive("a.npz", 3, WRITER_STACK, "digest 123");
    struct archive *archive = open_archive(in_directory("a.npz"));
    const float rows[] = {0, 1, 1, 2, 2, 3};
    const int64_t column[] = {steps[0], steps[1], steps[0]};
    assert_member(archive, "y", IRRUN_F32, "[3,1,2]", rows, 6);
    assert_member(archive, "deep/\xc3\xa9", IRRUN_I64, "[3]", column, 3);
    assert_string_equal(archive_comment(archive), "digest 123");
    archive_close(archive);
    remove(in_directory("a.npz"));

    write_archive("a.npz", 1, WRITER_ONE, NULL);
    archive = open_archive(in_directory("a.npz"));
    assert_member(archive, "y", IRRUN_F32, "[1,2]", x, 2);
    assert_member(archive, "deep/\xc3\xa9", IRRUN_I64, "[]", steps, 1);
    archive_close(archive);
    remove(in_directory("a.npz"));
}

static void writes_the_same_bytes_again(void **state)
{
    (void)state;
    size_t n;
    write_archive("a.npz", 5, WRITER_STACK, NULL);
    write_archive("b.npz", 5, WRITER_STACK, NULL);
    char *a = take_file(in_directory("a.npz"), &n);
    assert_file(in_directory("b.npz"), a, n);
    free(a);
}

/* A member larger than SPOOL_MEMORY_BYTES. */
static void writes_long_members(void **state)
{
    (void)state;
    enum { N = 3000 };
    static float record[N];
    for (int i = 0; i < N; i++)
        record[i] = (float)i;
    const char *one_name[] = {"long"};
    struct writer_options options = {.names = one_name, .n_outputs = 1, .layout = WRITER_STACK};
    struct writer *writer = open_writer(destination("npz", "a.npz"), &options);
    struct irrun_tensor tensor = tensor_of(IRRUN_F32, 1, (int64_t[]){N}, record);
    for (uint64_t i = 0; i < 100; i++) {
        record[0] = (float)i;
        write_record(writer, 0, &tensor, "-", i);
    }
    assert_int_equal(count_files(), 1);
    assert_fine(writer_finish(writer, &err));
    struct archive *archive = open_archive(in_directory("a.npz"));
    struct reader *reader;
    assert_fine(archive_open_member(archive, 0, &reader, &err));
    struct array_header header = next_array(reader);
    assert_header(&header, IRRUN_F32, "[100,3000]");
    for (int i = 0; i < 100; i++) {
        float data[N];
        size_t n_read;
        assert_fine(reader_read(reader, IRRUN_F32, data, N, &n_read, &err));
        assert_int_equal(n_read, N);
        record[0] = (float)i;
        assert_memory_equal(data, record, sizeof record);
    }
    assert_at_end(reader);
    reader_close(reader);
    archive_close(archive);
    remove(in_directory("a.npz"));
}

static void writes_types_that_numpy_lacks(void **state)
{
    (void)state;
    const char *one_name[] = {"v"};
    struct writer_options options = {.names = one_name, .n_outputs = 1};
    static const struct {
        enum irrun_dtype dtype, stored;
        unsigned char bytes[4], want[8];
    } cases[] = {
        {IRRUN_BF16, IRRUN_F32, {0x80, 0x3f, 0x20, 0xc0}, {0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0}},
        {IRRUN_I4, IRRUN_I8, {7, 0xf8}, {7, 0xf8}},
        {IRRUN_U4, IRRUN_U8, {0, 15}, {0, 15}},
        {IRRUN_U1, IRRUN_BOOLEAN, {0, 1}, {0, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writer *writer = open_writer(destination("npz", "a.npz"), &options);
        struct irrun_tensor v = tensor_of(cases[i].dtype, 1, (int64_t[]){2}, cases[i].bytes);
        assert_int_equal(format_stored_dtype(cases[i].dtype), cases[i].stored);
        write_record(writer, 0, &v, "-", 0);
        assert_fine(writer_finish(writer, &err));
        struct archive *archive = open_archive(in_directory("a.npz"));
        assert_member(archive, "v", cases[i].stored, "[2]", cases[i].want, 2);
        archive_close(archive);
    }
    remove(in_directory("a.npz"));
}

static void says_which_output_has_no_record(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 2, .layout = WRITER_STACK};
    struct writer *writer = open_writer(destination("npz", "a.npz"), &options);
    struct irrun_shape shape = shape_of(1, (int64_t[]){5});
    writer_expect(writer, 0, IRRUN_F16, &shape);
    assert_failed(writer_finish(writer, &err), IRRUN_DATA, "output \"deep/\xc3\xa9\"");
    assert_int_equal(count_files(), 0);

    writer = open_writer(destination("npz", "a.npz"), &options);
    writer_expect(writer, 0, IRRUN_F16, &shape);
    writer_expect(writer, 1, IRRUN_F16, &shape);
    assert_fine(writer_finish(writer, &err));
    struct archive *archive = open_archive(in_directory("a.npz"));
    assert_member(archive, "y", IRRUN_F16, "[0,5]", "", 0);
    archive_close(archive);
    remove(in_directory("a.npz"));
}

static void refuses_pipes(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 2};
    struct writer *writer;
    const struct format *npz = format_find("npz");
    assert_failed(writer_open(npz, "-", &options, &writer, &err), IRRUN_USAGE, "standard output");
    assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
    int fd = open(in_directory("fifo"), O_RDWR | O_CLOEXEC);
    assert_failed(writer_open(npz, in_directory("fifo"), &options, &writer, &err), IRRUN_USAGE,
                  "cannot be written to a pipe");
    assert_null(writer);
    close(fd);
    remove(in_directory("fifo"));
}

static void reports_a_full_device(void **state)
{
    (void)state;
    struct writer_options options = {.names = names, .n_outputs = 1};
    struct writer *writer = open_writer("npz:/dev/full", &options);
    struct irrun_tensor y = tensor_of(IRRUN_F32, 1, (int64_t[]){6}, x);
    write_record(writer, 0, &y, "-", 0);
    assert_failed(writer_finish(writer, &err), IRRUN_IO, "No space left on device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reads_what_numpy_writes, clear_error),
        cmocka_unit_test_setup(reads_from_a_pipe, clear_error),
        cmocka_unit_test_setup(reads_members_in_lock_step, clear_error),
        cmocka_unit_test_setup(rewinds_a_member, clear_error),
        cmocka_unit_test_setup(reads_unusual_archives, clear_error),
        cmocka_unit_test_setup(refuses_what_is_not_an_archive_of_arrays, clear_error),
        cmocka_unit_test_setup(refuses_every_truncation, clear_error),
        cmocka_unit_test_setup(survives_every_flipped_byte, clear_error),
        cmocka_unit_test_setup(notices_a_wrong_checksum, clear_error),
        cmocka_unit_test_setup(writes_what_it_reads, clear_error),
        cmocka_unit_test_setup(writes_the_same_bytes_again, clear_error),
        cmocka_unit_test_setup(writes_long_members, clear_error),
        cmocka_unit_test_setup(writes_types_that_numpy_lacks, clear_error),
        cmocka_unit_test_setup(says_which_output_has_no_record, clear_error),
        cmocka_unit_test_setup(refuses_pipes, clear_error),
        cmocka_unit_test_setup(reports_a_full_device, clear_error),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
