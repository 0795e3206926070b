/* formats/zip_writer: archives can be read, also with more than 4 GB or 65535 members.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format_files.h"

#include <fcntl.h>

#include "formats/zip_directory.h"
#include "formats/zip_writer.h"

#define LONG_BYTES ((uint64_t)5 << 30)

static void open_zip(struct zip_writer *zip, struct output_file *file, const char *name)
{
    assert_fine(output_file_open(file, in_directory(name), &err));
    *zip = (struct zip_writer){.out = file};
}

static void end_zip(struct zip_writer *zip, const char *comment)
{
    assert_fine(zip_writer_finish(zip, comment, &err));
    zip_writer_free(zip);
    assert_fine(output_file_finish(zip->out, &err));
}

static int read_zip(struct zip_directory *contents, const char *name)
{
    int fd = open(in_directory(name), O_RDONLY | O_CLOEXEC);
    *contents = (struct zip_directory){.n = 0};
    assert_true(fd >= 0);
    assert_fine(zip_directory_read(contents, fd, name, &err));
    return fd;
}

static void forget_zip(struct zip_directory *contents, int fd, const char *name)
{
    zip_directory_free(contents);
    close(fd);
    assert_int_equal(remove(in_directory(name)), 0);
}

/* Writes "abc", whose checksum is known. */
static void add_abc(struct zip_writer *zip, const char *name)
{
    assert_fine(zip_writer_add(zip, name, 3, 0x352441c2, &err));
    assert_fine(output_file_write(zip->out, "abc", 3, &err));
}

static void assert_abc(int fd, const struct zip_entry *entry)
{
    struct byte_source source;
    char data[4];
    size_t n_read;
    assert_int_equal(entry->size_bytes, 3);
    assert_fine(zip_member_open(&source, fd, entry, "a.zip", &err));
    assert_fine(source_read(&source, data, sizeof data, &n_read, &err));
    assert_int_equal(n_read, 3);
    assert_memory_equal(data, "abc", 3);
    source_close(&source);
}

/* The bytes of the long member are a hole. */
static void members_lie_beyond_4_gb(void **state)
{
    (void)state;
    struct output_file file;
    struct zip_writer zip;
    struct zip_directory contents;
    open_zip(&zip, &file, "a.zip");
    add_abc(&zip, "first");
    assert_fine(zip_writer_add(&zip, "long", LONG_BYTES, 7, &err));
    assert_fine(output_file_flush(&file, &err));
    file.offset += LONG_BYTES;
    assert_int_equal(ftruncate(file.fd, (off_t)file.offset), 0);
    assert_true(lseek(file.fd, 0, SEEK_END) == (off_t)file.offset);
    add_abc(&zip, "last");
    end_zip(&zip, "what it is");
    int fd = read_zip(&contents, "a.zip");
    assert_int_equal(contents.n, 3);
    assert_string_equal(contents.comment, "what it is");
    assert_string_equal(contents.entries[1].name, "long");
    assert_true(contents.entries[1].size_bytes == LONG_BYTES);
    assert_true(contents.entries[1].packed_bytes == LONG_BYTES);
    assert_int_equal(contents.entries[1].crc, 7);
    assert_true(contents.entries[2].offset > LONG_BYTES);
    assert_abc(fd, &contents.entries[0]);
    assert_abc(fd, &contents.entries[2]);
    forget_zip(&contents, fd, "a.zip");
}

static void there_are_more_members_than_16_bits_count(void **state)
{
    (void)state;
    enum { N = 65536 };
    struct output_file file;
    struct zip_writer zip;
    struct zip_directory contents;
    char name[16];
    open_zip(&zip, &file, "a.zip");
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "m%d", i);
        add_abc(&zip, name);
    }
    end_zip(&zip, NULL);
    int fd = read_zip(&contents, "a.zip");
    assert_int_equal(contents.n, N);
    assert_string_equal(contents.entries[N - 1].name, name);
    assert_string_equal(contents.comment, "");
    assert_abc(fd, &contents.entries[N - 1]);
    forget_zip(&contents, fd, "a.zip");
}

static void a_name_may_be_too_long(void **state)
{
    (void)state;
    enum { N = 65536 };
    struct output_file file;
    struct zip_writer zip;
    static char name[N + 1];
    memset(name, 'n', N);
    open_zip(&zip, &file, "a.zip");
    assert_false(zip_writer_add(&zip, name, 0, 0, &err));
    assert_int_equal(err.code, IRRUN_IO);
    error_clear(&err);
    name[N - 1] = '\0';
    assert_fine(zip_writer_add(&zip, name, 0, 0, &err));
    zip_writer_free(&zip);
    output_file_abort(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_lie_beyond_4_gb),
        cmocka_unit_test(there_are_more_members_than_16_bits_count),
        cmocka_unit_test(a_name_may_be_too_long),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
