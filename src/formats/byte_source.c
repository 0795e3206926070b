/* Implements the buffer of a source, and the sources that read files and pipes. zip_member.c
 * implements the sources that read members of archives.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/format.h"

static bool fail_read(const struct byte_source *source, int reason, struct irrun_error *err)
{
    return fail_errno(err, IRRUN_NO_INPUT, source->path, "cannot be read", reason);
}

/* Returns whether the next read would block until the writer of the pipe writes. */
static bool is_empty_pipe(const struct byte_source *source)
{
    struct pollfd ready = {.fd = source->fd, .events = POLLIN};
    return !source->can_seek && poll(&ready, 1, 0) == 0;
}

static bool read_file(struct byte_source *source, void *data, size_t n, size_t *n_read,
                      struct irrun_error *err)
{
    /* The kernel does not read much more than this at a time. */
    const size_t max_bytes = (size_t)1 << 30;
    if (source->wait && is_empty_pipe(source) && !source->wait->before(source->wait->context, err))
        return false;
    for (;;) {
        ssize_t got = read(source->fd, data, n < max_bytes ? n : max_bytes);
        if (got >= 0) {
            *n_read = (size_t)got;
            return true;
        }
        if (errno == EAGAIN) { /* another process has made the pipe non-blocking */
            struct pollfd wait = {.fd = source->fd, .events = POLLIN};
            if (poll(&wait, 1, -1) > 0)
                continue;
        }
        if (errno != EINTR)
            return fail_read(source, errno, err);
    }
}

static bool seek_file(struct byte_source *source, uint64_t offset, struct irrun_error *err)
{
    if (lseek(source->fd, (off_t)(source->first_offset + offset), SEEK_SET) < 0)
        return fail_read(source, errno, err);
    return true;
}

static void close_file(struct byte_source *source)
{
    if (source->fd > STDIN_FILENO)
        close(source->fd);
}

static const struct byte_source_methods file_methods = {read_file, seek_file, close_file};

/* Sets whether the source can seek, the offset of its first byte, and its size. */
static bool stat_file(struct byte_source *source, struct irrun_error *err)
{
    struct stat status;
    if (fstat(source->fd, &status) != 0)
        return fail_read(source, errno, err);
    if (S_ISDIR(status.st_mode))
        return fail_read(source, EISDIR, err);
    source->is_file = S_ISREG(status.st_mode);
    off_t here = source->is_file ? lseek(source->fd, 0, SEEK_CUR) : -1;
    /* Files in /proc have a size of 0 but are not empty. */
    if (here < 0 || status.st_size == 0)
        return true;
    source->can_seek = source->can_rewind = true;
    source->first_offset = (uint64_t)here;
    source->size_bytes = here < status.st_size ? (uint64_t)(status.st_size - here) : 0;
    return true;
}

bool source_open_file(struct byte_source *source, const char *path, const char *shown_path,
                      struct irrun_error *err)
{
    *source =
        (struct byte_source){.methods = &file_methods, .path = shown_path, .fd = STDIN_FILENO};
    source->size_bytes = UINT64_MAX;
    if (strcmp(path, "-") != 0)
        source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (source->fd < 0)
        return fail_errno(err, IRRUN_NO_INPUT, shown_path, "cannot be opened", errno);
    return stat_file(source, err) && source_open(source, err);
}

bool source_open(struct byte_source *source, struct irrun_error *err)
{
    source->buffer = malloc(SOURCE_BUFFER_BYTES);
    return source->buffer || fail_memory(err, SOURCE_BUFFER_BYTES);
}

void source_close(struct byte_source *source)
{
    if (source->methods)
        source->methods->close(source);
    free(source->buffer);
    *source = (struct byte_source){.fd = -1};
}

bool source_more(struct byte_source *source, struct irrun_error *err)
{
    if (source->start != 0) {
        memmove(source->buffer, source_bytes(source), source_available(source));
        source->end -= source->start;
        source->start = 0;
    }
    size_t n_free = SOURCE_BUFFER_BYTES - source->end;
    if (n_free == 0 || source->is_at_end)
        return true;
    size_t n_read = 0;
    if (!source->methods->read(source, source->buffer + source->end, n_free, &n_read, err))
        return false;
    source->is_at_end = n_read == 0;
    source->end += n_read;
    return true;
}

bool source_want(struct byte_source *source, size_t n, struct irrun_error *err)
{
    while (source_available(source) < n && !source->is_at_end)
        if (!source_more(source, err))
            return false;
    return true;
}

bool source_peek(struct byte_source *source, int *c, struct irrun_error *err)
{
    if (source_available(source) == 0 && !source_more(source, err))
        return false;
    *c = source_available(source) == 0 ? -1 : *source_bytes(source);
    return true;
}

bool source_skip_blanks(struct byte_source *source, int *c, struct irrun_error *err)
{
    for (;;) {
        if (!source_peek(source, c, err))
            return false;
        if (*c != ' ' && *c != '\t' && *c != '\r')
            return true;
        source_consume(source, 1);
    }
}

/* Consumes up to n bytes of the buffer, and copies them to `data` unless it is NULL. */
static size_t take_buffered(struct byte_source *source, unsigned char *data, size_t n)
{
    size_t n_ready = source_available(source);
    n = n < n_ready ? n : n_ready;
    if (data && n != 0)
        memcpy(data, source_bytes(source), n);
    source_consume(source, n);
    return n;
}

/* Skips the buffered bytes, then seeks or reads. */
static bool skip(struct byte_source *source, size_t n, size_t *n_skipped, struct irrun_error *err)
{
    size_t done = take_buffered(source, NULL, n);
    uint64_t left = source_left(source);
    if (source->can_seek && left != UINT64_MAX && done < n) {
        uint64_t step = n - done < left ? n - done : left;
        if (!source->methods->seek(source, source->offset + step, err))
            return false;
        source->offset += step;
        done += (size_t)step;
    }
    while (done < n && !source->is_at_end) {
        if (!source_more(source, err))
            return false;
        done += take_buffered(source, NULL, n - done);
    }
    *n_skipped = done;
    return true;
}

bool source_read(struct byte_source *source, void *data, size_t n, size_t *n_read,
                 struct irrun_error *err)
{
    if (data == NULL)
        return skip(source, n, n_read, err);
    unsigned char *at = data;
    size_t done = take_buffered(source, at, n);
    while (done < n && !source->is_at_end) {
        size_t got = 0;
        if (n - done >= SOURCE_BUFFER_BYTES) {
            if (!source->methods->read(source, at + done, n - done, &got, err))
                return false;
            source->is_at_end = got == 0;
            source->offset += got;
        } else {
            if (!source_more(source, err))
                return false;
            got = take_buffered(source, at + done, n - done);
        }
        done += got;
    }
    *n_read = done;
    return true;
}

uint64_t source_left(const struct byte_source *source)
{
    if (source->size_bytes == UINT64_MAX)
        return UINT64_MAX;
    return source->size_bytes > source->offset ? source->size_bytes - source->offset : 0;
}

bool source_rewind(struct byte_source *source, struct irrun_error *err)
{
    if (!source->methods->seek(source, 0, err))
        return false;
    source->start = source->end = 0;
    source->offset = 0;
    source->is_at_end = false;
    return true;
}

bool fail_source(const struct byte_source *source, struct irrun_error *err, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fail_at_offset(err, IRRUN_DATA, source->path, source->offset, "%s", message);
}

bool source_skip_bom(struct byte_source *source, struct irrun_error *err)
{
    bool is_marked = source_available(source) != 0 && source_bytes(source)[0] == 0xef;
    if (is_marked && !source_want(source, 3, err))
        return false;
    if (is_marked && source_available(source) >= 3 &&
        memcmp(source_bytes(source), "\xef\xbb\xbf", 3) == 0)
        source_consume(source, 3);
    return true;
}
