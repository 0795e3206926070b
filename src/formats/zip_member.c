/* Reads a member of a zip archive, stored or deflated, as a source.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/zip_directory.h"

#define LOCAL_BYTES 30 /* local file header, without name and extra fields */
#define METHOD_STORED 0
#define METHOD_DEFLATED 8

/* Two bits, a length code and a distance code of one bit each, decode to at most 258 bytes: RFC
 * 1951, 3.2.5. */
#define MAX_INFLATION 1032

struct member {
    int fd;
    struct zip_entry entry; /* without the name */
    uint64_t data_offset;   /* in the archive */
    uint64_t n_packed;      /* bytes read so far */
    uint64_t n_unpacked;    /* bytes returned so far */
    uLong crc;              /* of the bytes returned */
    bool is_inflating;      /* `stream` needs inflateEnd */
    bool is_at_end;         /* of the deflated stream */
    z_stream stream;
    unsigned char packed[32 * 1024];
};

static bool fail_member(const struct byte_source *source, const char *what, struct irrun_error *err)
{
    return fail_at(err, IRRUN_DATA, whole_file(source->path), "the archive is damaged: %s", what);
}

/* Reads the next packed bytes of the member; fewer than n only at its end. */
static bool read_packed(struct byte_source *source, void *data, size_t n, size_t *n_read,
                        struct irrun_error *err)
{
    struct member *member = source->context;
    uint64_t left = member->entry.packed_bytes - member->n_packed;
    if (!zip_read_at(member->fd, source->path, member->data_offset + member->n_packed, data,
                     n < left ? n : (size_t)left, n_read, err))
        return false;
    member->n_packed += *n_read;
    return true;
}

static bool inflate_some(struct byte_source *source, void *data, size_t n, size_t *n_read,
                         struct irrun_error *err)
{
    struct member *member = source->context;
    z_stream *stream = &member->stream;
    stream->next_out = data;
    stream->avail_out = (uInt)n;
    while (stream->avail_out == n && !member->is_at_end) {
        if (stream->avail_in == 0) {
            size_t n_packed;
            if (!read_packed(source, member->packed, sizeof member->packed, &n_packed, err))
                return false;
            stream->next_in = member->packed;
            stream->avail_in = (uInt)n_packed;
        }
        int status = inflate(stream, Z_NO_FLUSH);
        member->is_at_end = status == Z_STREAM_END;
        if (status == Z_MEM_ERROR)
            return fail_memory(err, sizeof *stream);
        if (status != Z_OK && status != Z_STREAM_END)
            return fail_member(source, "a member cannot be unpacked", err);
    }
    *n_read = n - stream->avail_out;
    return true;
}

static bool read_member(struct byte_source *source, void *data, size_t n, size_t *n_read,
                        struct irrun_error *err)
{
    struct member *member = source->context;
    uint64_t left = member->entry.size_bytes - member->n_unpacked;
    const size_t max_bytes = (size_t)1 << 30; /* zlib counts in 32 bits */
    n = n < max_bytes ? n : max_bytes;
    n = n < left ? n : (size_t)left;
    *n_read = 0;
    if (n == 0)
        return true;
    bool is_stored = member->entry.method == METHOD_STORED;
    if (!(is_stored ? read_packed : inflate_some)(source, data, n, n_read, err))
        return false;
    member->n_unpacked += *n_read;
    member->crc = crc32(member->crc, data, (uInt)*n_read);
    if (member->n_unpacked == member->entry.size_bytes && member->crc != member->entry.crc)
        return fail_member(source, "the checksum of a member is wrong", err);
    return true;
}

static bool restart(struct byte_source *source, struct irrun_error *err)
{
    struct member *member = source->context;
    member->n_packed = member->n_unpacked = 0;
    member->crc = crc32(0, NULL, 0);
    member->is_at_end = false;
    member->stream.avail_in = 0;
    if (member->entry.method == METHOD_STORED)
        return true;
    /* Negative: raw deflate, without a zlib header. */
    int status = member->is_inflating ? inflateReset(&member->stream)
                                      : inflateInit2(&member->stream, -MAX_WBITS);
    member->is_inflating = member->is_inflating || status == Z_OK;
    return status == Z_OK || fail_memory(err, sizeof member->stream);
}

/* Callers seek only to the beginning. */
static bool seek_member(struct byte_source *source, uint64_t offset, struct irrun_error *err)
{
    (void)offset;
    return restart(source, err);
}

static void close_member(struct byte_source *source)
{
    struct member *member = source->context;
    if (member->is_inflating)
        inflateEnd(&member->stream);
    free(member);
}

static const struct byte_source_methods member_methods = {read_member, seek_member, close_member};

static bool find_data(struct byte_source *source, struct irrun_error *err)
{
    struct member *member = source->context;
    unsigned char header[LOCAL_BYTES];
    size_t n_read;
    if (!zip_read_at(member->fd, source->path, member->entry.offset, header, LOCAL_BYTES, &n_read,
                     err))
        return false;
    if (n_read != LOCAL_BYTES || memcmp(header, "PK\3\4", 4) != 0)
        return fail_member(source, "a member is not at its offset in the directory", err);
    member->data_offset =
        member->entry.offset + LOCAL_BYTES + little_u16(header + 26) + little_u16(header + 28);
    bool is_stored = member->entry.method == METHOD_STORED;
    if (is_stored && member->entry.packed_bytes != member->entry.size_bytes)
        return fail_member(source, "the two sizes of a stored member differ", err);
    if (!is_stored && member->entry.size_bytes / MAX_INFLATION > member->entry.packed_bytes)
        return fail_member(source, "a member is shorter than the size given in the directory", err);
    return true;
}

static bool check_method(const struct zip_entry *entry, const char *path, struct irrun_error *err)
{
    struct place place = whole_file(path);
    if (entry->is_encrypted)
        return fail_at(err, IRRUN_DATA, place, "member \"%s\" is encrypted", entry->name);
    if (entry->method != METHOD_STORED && entry->method != METHOD_DEFLATED)
        return fail_at(
            err, IRRUN_DATA, place,
            "member \"%s\" is compressed by method %u; irrun reads stored and deflated members",
            entry->name, (unsigned)entry->method);
    return true;
}

bool zip_member_open(struct byte_source *source, int fd, const struct zip_entry *entry,
                     const char *path, struct irrun_error *err)
{
    if (!check_method(entry, path, err))
        return false;
    struct member *member = calloc(1, sizeof *member);
    if (member == NULL)
        return fail_memory(err, sizeof *member);
    member->fd = fd;
    member->entry = *entry;
    member->entry.name = NULL;
    *source = (struct byte_source){.methods = &member_methods,
                                   .context = member,
                                   .fd = -1,
                                   .path = path,
                                   .can_rewind = true,
                                   .size_bytes = entry->size_bytes};
    return find_data(source, err) && restart(source, err) && source_open(source, err);
}
