/* Reads bytes from a file, a pipe or a member of an archive, through one buffer.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_BYTE_SOURCE_H
#define IRRUN_FORMATS_BYTE_SOURCE_H

#include "base/error.h"

#define SOURCE_BUFFER_BYTES ((size_t)128 * 1024)

struct byte_source;
struct reader_wait;

/* The functions of a kind of source. */
struct byte_source_methods {
    /* Reads 1 … n bytes; *n_read = 0 at the end. */
    bool (*read)(struct byte_source *source, void *data, size_t n, size_t *n_read,
                 struct irrun_error *err);
    /* Seeks to `offset`, counted from the first byte of the source. */
    bool (*seek)(struct byte_source *source, uint64_t offset, struct irrun_error *err);
    void (*close)(struct byte_source *source);
};

struct byte_source {
    const struct byte_source_methods *methods;
    void *context; /* for the methods */
    int fd;        /* for a file; the source begins at its `first_offset` */
    uint64_t first_offset;
    const char *path;               /* for messages; borrowed */
    const struct reader_wait *wait; /* called before a pipe blocks; NULL: none */
    bool is_file;                   /* a regular file: neither pipe nor device */
    bool can_seek;                  /* to any offset */
    bool can_rewind;                /* at least to the start */
    uint64_t size_bytes;            /* UINT64_MAX: unknown */
    unsigned char *buffer;          /* [SOURCE_BUFFER_BYTES]; unread bytes: from `start` to `end` */
    size_t start, end;
    uint64_t offset; /* of buffer[start] */
    bool is_at_end;  /* there is nothing after the buffer */
};

/* Opens a file; "-" is standard input. Fails with IRRUN_NO_INPUT. `shown_path`, for messages, is
 * borrowed. */
bool source_open_file(struct byte_source *source, const char *path, const char *shown_path,
                      struct irrun_error *err);

/* Opens a source that is not a file. The caller has set methods, context, path and size_bytes. */
bool source_open(struct byte_source *source, struct irrun_error *err);
void source_close(struct byte_source *source);

/* Returns the number of unread bytes in the buffer; they begin at source_bytes. */
static inline size_t source_available(const struct byte_source *source)
{
    return source->end - source->start;
}

static inline const unsigned char *source_bytes(const struct byte_source *source)
{
    return source->buffer + source->start;
}

static inline void source_consume(struct byte_source *source, size_t n)
{
    source->start += n;
    source->offset += n;
}

/* Makes at least n (<= SOURCE_BUFFER_BYTES) bytes available, or all that are left. Never waits for
 * more than n bytes of a pipe. */
bool source_want(struct byte_source *source, size_t n, struct irrun_error *err);

/* Makes at least one more byte available, unless the source is at its end or the buffer is full. */
bool source_more(struct byte_source *source, struct irrun_error *err);

/* Sets *c to the next byte, or to -1 at the end, without consuming it. */
bool source_peek(struct byte_source *source, int *c, struct irrun_error *err);

/* Skips blanks within a line, and peeks at the byte after them. */
bool source_skip_blanks(struct byte_source *source, int *c, struct irrun_error *err);

/* Skips the byte order mark that some programs write at the start of a file in UTF-8. At least one
 * byte must be available, unless the source is empty. */
bool source_skip_bom(struct byte_source *source, struct irrun_error *err);

/* Reads n bytes; fewer only at the end. If `data` is NULL, skips them, by seeking if possible. */
bool source_read(struct byte_source *source, void *data, size_t n, size_t *n_read,
                 struct irrun_error *err);

/* Returns the number of remaining bytes, or UINT64_MAX if it is unknown. */
uint64_t source_left(const struct byte_source *source);

/* Returns to the first byte. Only for a source with can_rewind. */
bool source_rewind(struct byte_source *source, struct irrun_error *err);

/* Fails with IRRUN_DATA at the current offset. */
bool fail_source(const struct byte_source *source, struct irrun_error *err, const char *format, ...)
    PRINTF_LIKE(3, 4);

#endif
