/* Implements what all readers share: opening, closing, skipping, rewinding, reading a whole array.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formats/format_internal.h"

struct reader *reader_new(const struct reader_methods *methods, const char *path,
                          struct irrun_error *err)
{
    struct reader *reader = calloc(1, methods->size_bytes);
    char *shown_path = strdup(strcmp(path, "-") == 0 ? STANDARD_INPUT : path);
    if (reader == NULL || shown_path == NULL) {
        free(reader);
        free(shown_path);
        fail_memory(err, methods->size_bytes);
        return NULL;
    }
    reader->methods = methods;
    reader->path = shown_path;
    return reader;
}

bool reader_open(const struct format *format, const char *path, struct reader **reader,
                 struct irrun_error *err)
{
    assert(format->reader);
    return reader_open_methods(format->reader, path, reader, err);
}

bool reader_open_methods(const struct reader_methods *methods, const char *path,
                         struct reader **reader, struct irrun_error *err)
{
    *reader = reader_new(methods, path, err);
    if (*reader == NULL)
        return false;
    if (source_open_file(&(*reader)->source, path, (*reader)->path, err))
        return true;
    reader_close(*reader);
    *reader = NULL;
    return false;
}

bool reader_check_kind(struct reader *reader, const char *wanted, struct irrun_error *err)
{
    struct byte_source *source = &reader->source;
    return source_want(source, KIND_BYTES, err) &&
           kind_check(source_bytes(source), source_available(source), wanted, reader->path, err);
}

void reader_close(struct reader *reader)
{
    if (reader == NULL)
        return;
    reader->methods->reset(reader);
    source_close(&reader->source);
    free(reader->name);
    free(reader->path);
    free(reader);
}

void reader_on_wait(struct reader *reader, const struct reader_wait *wait)
{
    reader->source.wait = wait;
}

bool reader_next(struct reader *reader, struct array_header *header, bool *is_end,
                 struct irrun_error *err)
{
    *is_end = false;
    return reader->methods->next(reader, header, is_end, err);
}

bool reader_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                 size_t *n_read, struct irrun_error *err)
{
    return reader->methods->read(reader, dtype, data, n, n_read, err);
}

bool reader_skip(struct reader *reader, enum irrun_dtype dtype, size_t n, size_t *n_skipped,
                 struct irrun_error *err)
{
    return reader->methods->read(reader, dtype, NULL, n, n_skipped, err);
}

bool reader_can_rewind(const struct reader *reader)
{
    return reader->source.can_rewind;
}

bool reader_is_file(const struct reader *reader)
{
    return reader->source.is_file;
}

bool reader_rewind(struct reader *reader, struct irrun_error *err)
{
    assert(reader_can_rewind(reader));
    reader->methods->reset(reader);
    return source_rewind(&reader->source, err);
}

const char *reader_path(const struct reader *reader)
{
    return reader->path;
}

uint32_t reader_line(const struct reader *reader)
{
    return reader->line;
}

size_t reader_n_doubtful(const struct reader *reader)
{
    return reader->n_doubtful;
}

/* ---- A whole array --------------------------------------------------------------------------- */

#define FIRST_PIECE ((size_t)64 * 1024) /* elements */

/* Reads up to n elements into *data, which grows with the data read. */
static bool read_growing(struct reader *reader, enum irrun_dtype dtype, size_t n,
                         unsigned char **data, size_t *n_read, struct irrun_error *err)
{
    size_t capacity = 0, size_bytes = dtype_size(dtype);
    *n_read = 0;
    while (*n_read < n) {
        size_t step = capacity < FIRST_PIECE ? FIRST_PIECE : capacity;
        capacity = n - capacity > step ? capacity + step : n;
        unsigned char *grown = realloc(*data, capacity * size_bytes);
        if (grown == NULL)
            return fail_memory(err, capacity * size_bytes);
        *data = grown;
        size_t got = 0;
        if (!reader_read(reader, dtype, grown + *n_read * size_bytes, capacity - *n_read, &got,
                         err))
            return false;
        *n_read += got;
        if (*n_read < capacity)
            break;
    }
    return true;
}

bool reader_read_tensor(struct reader *reader, const struct array_header *header,
                        struct irrun_tensor *tensor, struct irrun_error *err)
{
    assert(header->has_shape);
    size_t n = (size_t)shape_n_elements(&header->shape), n_read = 0;
    unsigned char *data = new_array(0, 1, err); /* not NULL, even if there are no elements */
    bool is_read =
        data && read_growing(reader, header->dtype, n, &data, &n_read, err) &&
        (n_read == n || fail_source(&reader->source, err, "a part of the array was already read"));
    if (is_read)
        *tensor = (struct irrun_tensor){header->dtype, header->shape, data};
    else
        free(data);
    return is_read;
}
