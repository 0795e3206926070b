/* Files for the tests of src/formats: a temporary directory, readers of given bytes, and checks of
 * results.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_FORMAT_FILES_H
#define IRRUN_TESTS_FORMAT_FILES_H

#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/format.h"

#define DATA "tests/data/formats/"

static char directory[] = "/tmp/irrun-test-format-XXXXXX";
static struct irrun_error err;

/* Returns a path in the directory. It is valid until the eighth call after this one. */
static inline const char *in_directory(const char *name)
{
    static char paths[8][128];
    static unsigned n;
    char *path = paths[n++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

/* Removes the directory; fails if it has files that the tests did not create. */
static inline int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static inline int clear_error(void **state)
{
    (void)state;
    error_clear(&err);
    return 0;
}

static inline int count_files(void)
{
    DIR *stream = opendir(directory);
    assert_non_null(stream);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return n;
}

static inline void put_file(const char *path, const void *data, size_t size_bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

/* Reads a file into `data`. Returns the number of its bytes. */
static inline size_t get_file(const char *path, char *data, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(data, 1, capacity, file);
    fclose(file);
    return n;
}

/* Returns the bytes of the file and a NUL, malloc'ed, and removes the file. */
static inline char *take_file(const char *path, size_t *size_bytes)
{
    size_t capacity = 1 << 20;
    char *data = malloc(capacity);
    assert_non_null(data);
    size_t n = get_file(path, data, capacity - 1);
    data[n] = '\0';
    if (size_bytes)
        *size_bytes = n;
    remove(path);
    return data;
}

static inline void assert_file(const char *path, const void *data, size_t size_bytes)
{
    size_t n;
    char *found = take_file(path, &n);
    assert_int_equal(n, size_bytes);
    assert_memory_equal(found, data, size_bytes);
    free(found);
}

static inline void assert_text_file(const char *path, const char *text)
{
    char *found = take_file(path, NULL);
    assert_string_equal(found, text);
    free(found);
}

/* Fails if there is an error, and prints it. */
static inline void assert_fine(bool is_fine)
{
    char text[4096];
    if (!is_fine)
        fail_test("%s", error_format(&err, text, sizeof text));
    assert_int_equal(err.code, IRRUN_OK);
}

/* Fails unless there is an error with this code whose message contains `part`. */
static inline void assert_failed(bool is_fine, enum irrun_error_code code, const char *part)
{
    assert_false(is_fine);
    assert_int_equal(err.code, code);
    if (strstr(err.message, part) == NULL)
        fail_test("\"%s\" does not contain \"%s\"", err.message, part);
    error_clear(&err);
}

static inline struct reader *open_file(const char *format, const char *path)
{
    struct reader *reader = NULL;
    assert_fine(reader_open(format_find(format), path, &reader, &err));
    return reader;
}

/* Returns a reader of a file with these bytes, which is already removed. */
static inline struct reader *open_bytes(const char *format, const void *data, size_t size_bytes)
{
    const char *path = in_directory("input");
    put_file(path, data, size_bytes);
    struct reader *reader = open_file(format, path);
    remove(path);
    return reader;
}

/* Returns a reader of a pipe with these bytes. It cannot be rewound, and its length is unknown. */
static inline struct reader *open_piped(const char *format, const void *data, size_t size_bytes)
{
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], data, size_bytes), size_bytes);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct reader *reader = open_file(format, path);
    close(ends[0]);
    return reader;
}

static inline struct array_header next_array(struct reader *reader)
{
    struct array_header header;
    bool is_end;
    assert_fine(reader_next(reader, &header, &is_end, &err));
    assert_false(is_end);
    return header;
}

static inline void assert_at_end(struct reader *reader)
{
    struct array_header header;
    bool is_end;
    assert_fine(reader_next(reader, &header, &is_end, &err));
    assert_true(is_end);
}

static inline void assert_header(const struct array_header *header, enum irrun_dtype dtype,
                                 const char *shape)
{
    char text[SHAPE_TEXT_BYTES];
    assert_int_equal(header->dtype, dtype);
    assert_true(header->has_shape);
    assert_string_equal(shape_format(&header->shape, text), shape);
}

/* Reads exactly n elements and compares them with `want`. */
static inline void assert_elements(struct reader *reader, enum irrun_dtype dtype, const void *want,
                                   size_t n)
{
    unsigned char data[4096];
    size_t n_read;
    assert_true(n * dtype_size(dtype) <= sizeof data);
    assert_fine(reader_read(reader, dtype, data, n, &n_read, &err));
    assert_int_equal(n_read, n);
    assert_memory_equal(data, want, n * dtype_size(dtype));
}

/* Returns a tensor that borrows its elements. */
static inline struct irrun_tensor tensor_of(enum irrun_dtype dtype, uint32_t rank,
                                            const int64_t *dims, const void *data)
{
    return (struct irrun_tensor){dtype, shape_of(rank, dims), (void *)(uintptr_t)data};
}

static inline struct writer *open_writer(const char *destination,
                                         const struct writer_options *options)
{
    struct format_spec spec;
    struct writer *writer = NULL;
    assert_fine(format_parse_destination(destination, &spec, &err));
    struct writer_options with_variant = *options;
    with_variant.is_text_variant = spec.is_text_variant;
    assert_fine(writer_open(spec.format, spec.path, &with_variant, &writer, &err));
    return writer;
}

static inline const char *destination(const char *format, const char *name)
{
    static char texts[4][160];
    static unsigned n;
    char *text = texts[n++ % 4];
    snprintf(text, sizeof texts[0], "%s:%s/%s", format, directory, name);
    return text;
}

static inline void write_record(struct writer *writer, size_t output,
                                const struct irrun_tensor *record, const char *sequence,
                                uint64_t index)
{
    struct record_label label = {sequence, index};
    assert_fine(writer_write(writer, output, record, &label, &err));
    assert_fine(writer_end_record(writer, &err));
}

#endif
