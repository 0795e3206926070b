/* How minizip writes an archive: through an output file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/zip_sink.h"

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

zlib_filefunc64_def zip_sink_functions(struct zip_sink *sink)
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
