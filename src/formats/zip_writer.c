/* Writes the records of a zip archive.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/zip_writer.h"

#include <string.h>

#include "formats/byte_order.h"

#define END64_BYTES 56 /* zip64 end of central directory record; no record is longer */

#define VERSION 20u
#define VERSION_ZIP64 45u
#define MADE_BY_UNIX (3u << 8)
#define UNIX_MODE_0600 (0100600u << 16)
#define DOS_DATE_1980_01_01 (1u << 5 | 1u) /* the earliest date of zip */
#define FLAG_UTF8 (1u << 11)
#define EXTRA_ZIP64 1

/* A record that is being built. */
struct record {
    unsigned char bytes[END64_BYTES];
    size_t n;
};

static void put(struct record *record, uint64_t value, size_t n_bytes)
{
    put_little(record->bytes + record->n, value, n_bytes);
    record->n += n_bytes;
}

/* Writes 32 bits; all ones mean that a ZIP64 field holds the number. */
static void put_narrow(struct record *record, uint64_t value)
{
    put(record, value < UINT32_MAX ? value : UINT32_MAX, 4);
}

static bool is_ascii(const char *text)
{
    while (*text != '\0' && (unsigned char)*text < 0x80)
        text++;
    return *text == '\0';
}

/* Writes the fields that both headers of a member begin with, after "version made by". */
static void put_common(struct record *record, const char *name, uint64_t size_bytes, uint32_t crc,
                       bool is_wide)
{
    put(record, is_wide ? VERSION_ZIP64 : VERSION, 2);
    put(record, is_ascii(name) ? 0 : FLAG_UTF8, 2);
    put(record, 0, 2); /* stored */
    put(record, 0, 2); /* midnight */
    put(record, DOS_DATE_1980_01_01, 2);
    put(record, crc, 4);
    put_narrow(record, size_bytes);
    put_narrow(record, size_bytes);
    put(record, strlen(name), 2);
}

/* Appends the directory entry of a member, which is written at the end. */
static bool add_entry(struct zip_writer *zip, const char *name, uint64_t size_bytes, uint32_t crc,
                      struct irrun_error *err)
{
    struct record entry = {.n = 4}, extra = {.n = 4};
    struct text *directory = &zip->directory;
    uint64_t offset = zip->out->offset;
    for (size_t i = 0; i < 2 && size_bytes >= UINT32_MAX; i++)
        put(&extra, size_bytes, 8);
    if (offset >= UINT32_MAX)
        put(&extra, offset, 8);
    bool is_wide = extra.n > 4;
    size_t n_extra = is_wide ? extra.n : 0;
    extra.n = 0;
    put(&extra, EXTRA_ZIP64, 2);
    put(&extra, is_wide ? n_extra - 4 : 0, 2);

    memcpy(entry.bytes, "PK\1\2", 4);
    put(&entry, MADE_BY_UNIX | VERSION, 2);
    put_common(&entry, name, size_bytes, crc, is_wide);
    put(&entry, n_extra, 2);
    put(&entry, 0, 2 + 2 + 2); /* no comment, first disk, binary */
    put(&entry, UNIX_MODE_0600, 4);
    put_narrow(&entry, offset);
    text_add_bytes(directory, (const char *)entry.bytes, entry.n);
    text_add_bytes(directory, name, strlen(name));
    text_add_bytes(directory, (const char *)extra.bytes, n_extra);
    zip->n_members++;
    return text_check(directory, err);
}

bool zip_writer_add(struct zip_writer *zip, const char *name, uint64_t size_bytes, uint32_t crc,
                    struct irrun_error *err)
{
    bool is_wide = size_bytes >= UINT32_MAX;
    size_t length = strlen(name);
    struct record header = {.n = 4};
    if (length > UINT16_MAX)
        return fail_at(err, IRRUN_IO, whole_file(zip->out->path),
                       "a member's name of %zu bytes is too long for a zip archive", length);
    if (!add_entry(zip, name, size_bytes, crc, err))
        return false;
    memcpy(header.bytes, "PK\3\4", 4);
    put_common(&header, name, size_bytes, crc, is_wide);
    put(&header, is_wide ? 4 + 8 + 8 : 0, 2);
    if (!output_file_write(zip->out, header.bytes, header.n, err) ||
        !output_file_write(zip->out, name, length, err))
        return false;
    header.n = 0;
    if (is_wide) {
        put(&header, EXTRA_ZIP64, 2);
        put(&header, 8 + 8, 2);
        put(&header, size_bytes, 8);
        put(&header, size_bytes, 8);
    }
    return output_file_write(zip->out, header.bytes, header.n, err);
}

/* Writes the ZIP64 end record with the sizes in 64 bits, and its locator. */
static bool write_end64(struct zip_writer *zip, uint64_t offset, struct irrun_error *err)
{
    struct record end = {.n = 4};
    uint64_t own_offset = zip->out->offset;
    memcpy(end.bytes, "PK\6\6", 4);
    put(&end, END64_BYTES - 12, 8);
    put(&end, MADE_BY_UNIX | VERSION_ZIP64, 2);
    put(&end, VERSION_ZIP64, 2);
    put(&end, 0, 4 + 4); /* first disk */
    put(&end, zip->n_members, 8);
    put(&end, zip->n_members, 8);
    put(&end, zip->directory.length, 8);
    put(&end, offset, 8);
    if (!output_file_write(zip->out, end.bytes, end.n, err))
        return false;
    memcpy(end.bytes, "PK\6\7", 4);
    end.n = 4;
    put(&end, 0, 4);
    put(&end, own_offset, 8);
    put(&end, 1, 4); /* total number of disks */
    return output_file_write(zip->out, end.bytes, end.n, err);
}

bool zip_writer_finish(struct zip_writer *zip, const char *comment, struct irrun_error *err)
{
    uint64_t offset = zip->out->offset, n_bytes = zip->directory.length;
    bool is_wide = zip->n_members >= UINT16_MAX || n_bytes >= UINT32_MAX || offset >= UINT32_MAX;
    size_t n_comment = comment ? strlen(comment) : 0;
    uint64_t n_narrow = zip->n_members < UINT16_MAX ? zip->n_members : UINT16_MAX;
    struct record end = {.n = 4};
    if (!output_file_write(zip->out, zip->directory.data, zip->directory.length, err) ||
        (is_wide && !write_end64(zip, offset, err)))
        return false;
    memcpy(end.bytes, "PK\5\6", 4);
    put(&end, 0, 2 + 2); /* first disk */
    put(&end, n_narrow, 2);
    put(&end, n_narrow, 2);
    put_narrow(&end, n_bytes);
    put_narrow(&end, offset);
    put(&end, n_comment, 2);
    return output_file_write(zip->out, end.bytes, end.n, err) &&
           output_file_write(zip->out, comment, n_comment, err);
}

void zip_writer_free(struct zip_writer *zip)
{
    text_free(&zip->directory);
}
