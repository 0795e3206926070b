/* Reads a tensor file, writes what was read, and reads it again.
 *
 * An input is a byte that selects the format, a byte of choices, and the file.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>

#include "base/memory_limit.h"
#include "formats/format.h"
#include "formats/kept_columns.h"
#include "fuzz.h"

#define MAX_ARRAYS 20
#define MAX_ELEMENTS (1 << 16)

static char directory[] = "/tmp/irrun-fuzz-XXXXXX";

static void remove_directory(void)
{
    rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    memory_limit_lower((size_t)512 << 20);
    if (!mkdtemp(directory)) {
        perror(directory);
        exit(2);
    }
    atexit(remove_directory);
    return 0;
}

/* Writes the tensor in a format to a temporary file, and checks the size of the file. */
static void write_tensor(const struct format *format, const struct irrun_tensor *tensor,
                         unsigned choices)
{
    static const char *const names[] = {"a"};
    const struct writer_options options = {.names = names,
                                           .n_outputs = 1,
                                           .layout = (enum writer_layout)(choices % 3),
                                           .is_text_variant =
                                               format->has_keys && (choices & 8) != 0,
                                           .is_summarised = (choices & 16) != 0};
    const struct record_label label = {"key", 0};
    struct writer *writer;
    struct irrun_error err;
    char path[64];
    error_clear(&err);
    snprintf(path, sizeof path, "%s/out", directory);
    if (!check_error(writer_open(format, path, &options, &writer, &err), &err))
        return;
    bool is_written = writer_write(writer, 0, tensor, &label, &err);
    if (options.layout != WRITER_ONE)
        is_written = is_written && writer_write(writer, 0, tensor, &label, &err);
    if (check_error(is_written && writer_end_record(writer, &err), &err))
        check_error(writer_finish(writer, &err), &err);
    else
        writer_abort(writer);
    unlink(path);
}

static void write_small_tensor(const struct irrun_tensor *tensor, unsigned choices)
{
    const struct format *format = format_at((choices >> 3) % format_count());
    if (format->can_write && shape_n_elements(&tensor->shape) < 1000)
        write_tensor(format, tensor, choices);
}

/* Reads an array with a shape: whole, or in pieces of seven elements with a gap between them. */
static bool read_shaped(struct reader *reader, const struct array_header *header, unsigned choices,
                        struct irrun_error *err)
{
    struct irrun_tensor tensor;
    unsigned char data[7 * 16];
    size_t n;
    if ((choices & 1) == 0) {
        if (!check_error(reader_read_tensor(reader, header, &tensor, err), err))
            return false;
        read_bytes(tensor.data, tensor_n_bytes(&tensor));
        if ((choices & 2) != 0)
            write_small_tensor(&tensor, choices);
        free(tensor.data);
        return true;
    }
    for (int i = 0; i < 50; i++) {
        bool is_read = i % 3 == 2 ? reader_skip(reader, header->dtype, 5, &n, err)
                                  : reader_read(reader, header->dtype, data, 7, &n, err);
        if (!check_error(is_read, err) || n == 0)
            return is_read;
    }
    return true;
}

static bool read_row(struct reader *reader, const struct array_header *header, unsigned choices,
                     struct irrun_error *err)
{
    enum irrun_dtype dtype = (enum irrun_dtype)(1 + choices % (IRRUN_N_DTYPES - 1));
    if (header->dtype != IRRUN_DYNAMIC)
        dtype = header->dtype;
    double data[64];
    size_t n;
    if (dtype == IRRUN_STRING || header->n_channels > 64)
        return true;
    if ((choices & 32) != 0 && header->n_channels > 0)
        reader_keep_channels(reader);
    for (int i = 0; i < 50; i++) {
        size_t wanted = header->n_channels > 0 ? header->n_channels : 1 + choices % 64;
        bool is_read = reader_read(reader, dtype, data, wanted, &n, err);
        if (!check_error(is_read, err) || n == 0)
            return is_read;
        read_bytes(data, n * dtype_size(dtype));
    }
    return true;
}

static bool read_arrays(struct reader *reader, unsigned choices)
{
    struct array_header header;
    struct irrun_error err;
    bool is_end = false;
    error_clear(&err);
    for (int i = 0; i < MAX_ARRAYS; i++) {
        if (!check_error(reader_next(reader, &header, &is_end, &err), &err))
            return false;
        if (is_end)
            return true;
        if (header.name)
            read_bytes(header.name, strlen(header.name));
        if (header.key)
            read_bytes(header.key, strlen(header.key));
        if (!(header.has_shape ? read_shaped(reader, &header, choices, &err)
                               : read_row(reader, &header, choices, &err)))
            return false;
    }
    return true;
}

static void read_stream(struct reader *reader, unsigned choices)
{
    struct irrun_error err;
    error_clear(&err);
    if (read_arrays(reader, choices) && reader_can_rewind(reader) &&
        check_error(reader_rewind(reader, &err), &err))
        read_arrays(reader, choices + 1);
    reader_close(reader);
}

static void read_archive(const char *path, unsigned choices)
{
    struct archive *archive;
    struct irrun_error err;
    error_clear(&err);
    if (!check_error(archive_open(path, &archive, &err), &err))
        return;
    read_bytes(archive_comment(archive), strlen(archive_comment(archive)));
    for (size_t i = 0; i < archive_n_members(archive) && i < MAX_ARRAYS; i++) {
        struct reader *reader;
        size_t found;
        error_clear(&err);
        if (!archive_find(archive, archive_member(archive, i)->name, &found))
            abort();
        if (check_error(archive_open_member(archive, i, &reader, &err), &err))
            read_stream(reader, choices);
    }
    archive_close(archive);
}

/* Writes the data to a new pipe. Returns its read end, or -1 if the data may not fit. */
static int open_pipe(const uint8_t *data, size_t size, char *path, size_t n)
{
    int ends[2];
    if (size > 60000 || pipe(ends) != 0)
        return -1;
    if (write(ends[1], data, size) != (ssize_t)size)
        abort();
    close(ends[1]);
    snprintf(path, n, "/dev/fd/%d", ends[0]);
    return ends[0];
}

/* Reads some columns of a csv as numbers, and keeps others as text. */
static void read_columns(const char *path, unsigned choices)
{
    static const char *const columns[] = {"0", "1,0", "a,b", "x", "0,x,2"};
    static const char *const kept_columns[] = {"all", "0", "a,1", "3,x"};
    struct kept_columns kept = {.wanted = kept_columns[choices % 4]};
    struct reader *reader;
    struct irrun_error err;
    error_clear(&err);
    if (check_error(reader_open_columns(path, columns[choices % 5],
                                        (choices & 32) != 0 ? &kept : NULL, &reader, &err),
                    &err))
        read_stream(reader, choices);
    while (kept.offset < kept.rows.length) {
        kept_columns_next(&kept);
        if (memchr(kept.row.at, '\n', slice_length(kept.row)))
            abort();
    }
    kept_columns_free(&kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_file file;
    struct reader *reader;
    struct irrun_error err;
    char path[32];
    if (size < 2)
        return 0;
    const struct format *format = format_at(data[0] % format_count());
    unsigned choices = data[1];
    error_clear(&err);
    if (!format->can_read || format->is_generated)
        return 0;
    memory_file_open(&file, data + 2, size - 2);
    int fd = (choices & 64) != 0 ? open_pipe(data + 2, size - 2, path, sizeof path) : -1;
    const char *source = fd >= 0 ? path : file.path;
    if (format->has_names)
        read_archive(source, choices);
    else if (strcmp(format->name, "csv") == 0 && (choices & 128) != 0)
        read_columns(source, choices);
    else if (check_error(reader_open(format, source, &reader, &err), &err))
        read_stream(reader, choices);
    if (fd >= 0)
        close(fd);
    memory_file_close(&file);
    return 0;
}
