/* How minizip reads and writes our files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/zip_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Reading --------------------------------------------------------------------------------- */

/* minizip reads headers byte by byte: those come from here. */
#define WINDOW_BYTES 4096

struct zip_stream {
    int fd;
    uint64_t offset;
    uint64_t window_offset;
    size_t n_window;
    bool is_failed;
    unsigned char window[WINDOW_BYTES];
};

static voidpf open_stream(voidpf opaque, const void *filename, int mode)
{
    (void)filename;
    (void)mode;
    struct zip_stream *stream = calloc(1, sizeof *stream);
    if (stream)
        stream->fd = *(const int *)opaque;
    return stream;
}

static size_t read_at(struct zip_stream *stream, void *data, size_t n, uint64_t offset)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got =
            pread(stream->fd, (unsigned char *)data + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        stream->is_failed = stream->is_failed || got < 0;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static uLong read_stream(voidpf opaque, voidpf handle, void *data, uLong n)
{
    (void)opaque;
    struct zip_stream *stream = handle;
    if (n >= WINDOW_BYTES) {
        size_t done = read_at(stream, data, n, stream->offset);
        stream->offset += done;
        return (uLong)done;
    }
    bool is_inside = stream->offset >= stream->window_offset &&
                     stream->offset + n <= stream->window_offset + stream->n_window;
    if (!is_inside) {
        stream->window_offset = stream->offset;
        stream->n_window = read_at(stream, stream->window, WINDOW_BYTES, stream->offset);
    }
    size_t skip = (size_t)(stream->offset - stream->window_offset);
    size_t n_ready = stream->n_window - skip;
    n = n < n_ready ? n : (uLong)n_ready;
    memcpy(data, stream->window + skip, n);
    stream->offset += n;
    return n;
}

static uLong refuse_to_write(voidpf opaque, voidpf handle, const void *data, uLong n)
{
    (void)opaque;
    (void)handle;
    (void)data;
    (void)n;
    return 0;
}

static ZPOS64_T tell_stream(voidpf opaque, voidpf handle)
{
    (void)opaque;
    return ((struct zip_stream *)handle)->offset;
}

static long seek_stream(voidpf opaque, voidpf handle, ZPOS64_T offset, int origin)
{
    (void)opaque;
    struct zip_stream *stream = handle;
    uint64_t base = 0;
    struct stat status;
    if (origin == ZLIB_FILEFUNC_SEEK_CUR) {
        base = stream->offset;
    } else if (origin == ZLIB_FILEFUNC_SEEK_END) {
        if (fstat(stream->fd, &status) != 0)
            return -1;
        base = (uint64_t)status.st_size;
    }
    uint64_t target;
    if (__builtin_add_overflow(base, offset, &target) || target > INT64_MAX)
        return -1;
    stream->offset = target;
    return 0;
}

static int close_stream(voidpf opaque, voidpf handle)
{
    (void)opaque;
    free(handle);
    return 0;
}

static int stream_error(voidpf opaque, voidpf handle)
{
    (void)opaque;
    return ((struct zip_stream *)handle)->is_failed;
}

zlib_filefunc64_def zip_reading_functions(const int *fd)
{
    return (zlib_filefunc64_def){.zopen64_file = open_stream,
                                 .zread_file = read_stream,
                                 .zwrite_file = refuse_to_write,
                                 .ztell64_file = tell_stream,
                                 .zseek64_file = seek_stream,
                                 .zclose_file = close_stream,
                                 .zerror_file = stream_error,
                                 .opaque = (voidpf)(uintptr_t)fd};
}

/* ---- Writing --------------------------------------------------------------------------------- */

static voidpf open_sink(voidpf opaque, const void *filename, int mode)
{
    (void)filename;
    (void)mode;
    return opaque;
}

static uLong refuse_to_read(voidpf opaque, voidpf handle, void *data, uLong n)
{
    (void)opaque;
    (void)handle;
    (void)data;
    (void)n;
    return 0;
}

/* minizip goes back to each member's header when it knows its sum. */
static uLong write_sink(voidpf opaque, voidpf handle, const void *data, uLong n)
{
    (void)opaque;
    struct zip_sink *sink = handle;
    bool is_written = sink->offset == sink->out->offset
                          ? output_file_write(sink->out, data, n, sink->err)
                          : output_file_patch(sink->out, sink->offset, data, n, sink->err);
    if (!is_written)
        return 0;
    sink->offset += n;
    return n;
}

static ZPOS64_T tell_sink(voidpf opaque, voidpf handle)
{
    (void)opaque;
    return ((struct zip_sink *)handle)->offset;
}

static long seek_sink(voidpf opaque, voidpf handle, ZPOS64_T offset, int origin)
{
    (void)opaque;
    struct zip_sink *sink = handle;
    if (origin == ZLIB_FILEFUNC_SEEK_CUR)
        offset += sink->offset;
    else if (origin == ZLIB_FILEFUNC_SEEK_END)
        offset += sink->out->offset;
    if (offset > sink->out->offset)
        return -1;
    sink->offset = offset;
    return 0;
}

static int close_sink(voidpf opaque, voidpf handle)
{
    (void)opaque;
    (void)handle;
    return 0;
}

static int sink_error(voidpf opaque, voidpf handle)
{
    (void)opaque;
    return ((struct zip_sink *)handle)->err->code != IRRUN_OK;
}

zlib_filefunc64_def zip_writing_functions(struct zip_sink *sink)
{
    return (zlib_filefunc64_def){.zopen64_file = open_sink,
                                 .zread_file = refuse_to_read,
                                 .zwrite_file = write_sink,
                                 .ztell64_file = tell_sink,
                                 .zseek64_file = seek_sink,
                                 .zclose_file = close_sink,
                                 .zerror_file = sink_error,
                                 .opaque = sink};
}
