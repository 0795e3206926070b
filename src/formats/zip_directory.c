/* Reads the directory of a zip archive, which is at the end of the file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/zip_directory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "formats/format_internal.h"

#define END_BYTES 22       /* end of central directory record */
#define LOCATOR_BYTES 20   /* zip64 end of central directory locator, just before it */
#define END64_BYTES 56     /* zip64 end of central directory record, without its extensions */
#define ENTRY_BYTES 46     /* central directory header */
#define MAX_COMMENT 0xffff /* its length is stored in 16 bits */
#define FLAG_ENCRYPTED 1u

struct reading {
    int fd;
    const char *path;
    uint64_t file_bytes;
    uint64_t end; /* of the entries */
    uint64_t offset, n_entries;
    struct irrun_error *err;
};

static bool fail_zip(const struct reading *reading, const char *what)
{
    return fail_at(reading->err, IRRUN_DATA, whole_file(reading->path), "%s", what);
}

static bool fail_damaged(const struct reading *reading)
{
    return fail_zip(reading, "the archive's directory is damaged");
}

bool zip_read_at(int fd, const char *path, uint64_t offset, void *data, size_t n, size_t *n_read,
                 struct irrun_error *err)
{
    return file_read_at(fd, offset, data, n, n_read) ||
           fail_errno(err, IRRUN_NO_INPUT, path, "cannot be read", errno);
}

/* Reads n bytes; *is_whole is false if the file ends earlier. */
static bool read_whole(const struct reading *reading, uint64_t offset, void *data, size_t n,
                       bool *is_whole)
{
    size_t n_read;
    bool is_read = zip_read_at(reading->fd, reading->path, offset, data, n, &n_read, reading->err);
    *is_whole = is_read && n_read == n;
    return is_read;
}

static bool read_exactly(const struct reading *reading, uint64_t offset, void *data, size_t n)
{
    bool is_whole;
    return read_whole(reading, offset, data, n, &is_whole) && (is_whole || fail_damaged(reading));
}

/* ---- The end of the file --------------------------------------------------------------------- */

/* Reads the ZIP64 end record, which holds the sizes. A locator before the usual end record gives
 * its offset. */
static bool read_end64(struct reading *reading, uint64_t end_offset)
{
    unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
    if (end_offset < LOCATOR_BYTES)
        return true;
    if (!read_exactly(reading, end_offset - LOCATOR_BYTES, locator, LOCATOR_BYTES))
        return false;
    if (memcmp(locator, "PK\6\7", 4) != 0)
        return true;
    uint64_t offset = little_u64(locator + 8);
    if (offset > end_offset)
        return fail_damaged(reading);
    if (!read_exactly(reading, offset, record, END64_BYTES))
        return false;
    if (memcmp(record, "PK\6\6", 4) != 0 || little_u32(record + 16) != 0 ||
        little_u64(record + 24) != little_u64(record + 32))
        return fail_damaged(reading);
    reading->n_entries = little_u64(record + 32);
    reading->offset = little_u64(record + 48);
    reading->end = offset;
    return true;
}

static bool parse_end(struct reading *reading, const unsigned char *record, uint64_t end_offset)
{
    reading->end = end_offset;
    reading->n_entries = little_u16(record + 10);
    reading->offset = little_u32(record + 16);
    if (little_u16(record + 4) != 0 || little_u16(record + 8) != little_u16(record + 10))
        return fail_zip(reading, "multi-part archives are not supported");
    return read_end64(reading, end_offset);
}

static bool fail_no_end(const struct reading *reading)
{
    unsigned char head[KIND_BYTES];
    size_t n;
    if (!zip_read_at(reading->fd, reading->path, 0, head, sizeof head, &n, reading->err))
        return false;
    if (n == 0)
        return fail_zip(reading, "is empty; an npz archive was expected");
    if (!kind_check(head, n, "npz", reading->path, reading->err))
        return false;
    if (n < 4 || memcmp(head, "PK\3\4", 4) != 0)
        return fail_zip(reading, "is not an npz archive");
    fail_zip(reading, "the archive is truncated: the directory at its end is missing");
    return fail_hint(reading->err, "it ends after %" PRIu64 " bytes: was a copy interrupted?",
                     reading->file_bytes);
}

/* Finds the end record, which gives the length of the comment. Only the comment follows the
 * record. */
static bool find_end(struct reading *reading, struct zip_directory *directory)
{
    size_t n = END_BYTES + MAX_COMMENT;
    if (reading->file_bytes < n)
        n = (size_t)reading->file_bytes;
    unsigned char *tail = malloc(n + 1);
    if (tail == NULL)
        return fail_memory(reading->err, n + 1);
    uint64_t start = reading->file_bytes - n;
    bool is_whole, is_found = false, is_read = read_whole(reading, start, tail, n, &is_whole);
    for (size_t at = n < END_BYTES ? 0 : n - END_BYTES + 1; is_whole && !is_found && at-- > 0;) {
        is_found =
            memcmp(tail + at, "PK\5\6", 4) == 0 && little_u16(tail + at + 20) == n - at - END_BYTES;
        if (!is_found)
            continue;
        directory->comment = strndup((const char *)tail + at + END_BYTES, n - at - END_BYTES);
        is_read = directory->comment ? parse_end(reading, tail + at, start + at)
                                     : fail_memory(reading->err, n);
    }
    free(tail);
    return is_found || !is_read ? is_read : fail_no_end(reading);
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* Reads the next 64-bit number of a ZIP64 field if the 32-bit value is all ones. */
static bool widen(uint64_t *value, const unsigned char *field, size_t n, size_t *at)
{
    if (*value != UINT32_MAX)
        return true;
    if (n - *at < 8)
        return false;
    *value = little_u64(field + *at);
    *at += 8;
    return true;
}

static bool parse_extra(struct zip_entry *entry, const unsigned char *extra, size_t n)
{
    for (size_t at = 0; at + 4 <= n;) {
        size_t length = little_u16(extra + at + 2), used = 0;
        if (length > n - at - 4)
            return false;
        const unsigned char *field = extra + at + 4;
        if (little_u16(extra + at) == 1)
            return widen(&entry->size_bytes, field, length, &used) &&
                   widen(&entry->packed_bytes, field, length, &used) &&
                   widen(&entry->offset, field, length, &used);
        at += 4 + length;
    }
    return true;
}

/* Parses an entry. `rest` holds its name and extra fields. */
static bool parse_entry(struct reading *reading, struct zip_directory *directory,
                        const unsigned char *header, const unsigned char *rest)
{
    size_t n_name = little_u16(header + 28), n_extra = little_u16(header + 30);
    struct zip_entry entry = {.offset = little_u32(header + 42),
                              .packed_bytes = little_u32(header + 20),
                              .size_bytes = little_u32(header + 24),
                              .crc = little_u32(header + 16),
                              .method = little_u16(header + 10),
                              .is_encrypted = (little_u16(header + 8) & FLAG_ENCRYPTED) != 0};
    if (!parse_extra(&entry, rest + n_name, n_extra) || memchr(rest, '\0', n_name) ||
        entry.offset > reading->end || entry.packed_bytes > reading->end - entry.offset)
        return fail_damaged(reading);
    if (!GROW_ARRAY(directory->entries, directory->n, directory->capacity, reading->err))
        return false;
    entry.name = strndup((const char *)rest, n_name);
    if (entry.name == NULL)
        return fail_memory(reading->err, n_name + 1);
    directory->entries[directory->n++] = entry;
    return true;
}

static bool read_entry(struct reading *reading, struct zip_directory *directory,
                       unsigned char *rest)
{
    unsigned char header[ENTRY_BYTES];
    if (reading->offset > reading->end || reading->end - reading->offset < ENTRY_BYTES ||
        !read_exactly(reading, reading->offset, header, ENTRY_BYTES) ||
        memcmp(header, "PK\1\2", 4) != 0)
        return fail_damaged(reading);
    reading->offset += ENTRY_BYTES;
    size_t n_rest = (size_t)little_u16(header + 28) + little_u16(header + 30);
    if (n_rest > reading->end - reading->offset ||
        !read_exactly(reading, reading->offset, rest, n_rest))
        return fail_damaged(reading);
    reading->offset += n_rest + little_u16(header + 32);
    return parse_entry(reading, directory, header, rest);
}

bool zip_directory_read(struct zip_directory *directory, int fd, const char *path,
                        struct irrun_error *err)
{
    struct reading reading = {.fd = fd, .path = path, .err = err};
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail_errno(err, IRRUN_NO_INPUT, path, "cannot be read", errno);
    reading.file_bytes = (uint64_t)status.st_size;
    if (!find_end(&reading, directory))
        return false;
    const size_t max_rest = (size_t)2 * UINT16_MAX;
    unsigned char *rest = malloc(max_rest);
    if (rest == NULL)
        return fail_memory(err, max_rest);
    bool is_read = true;
    for (uint64_t i = 0; i < reading.n_entries && is_read; i++)
        is_read = read_entry(&reading, directory, rest);
    free(rest);
    return is_read;
}

void zip_directory_free(struct zip_directory *directory)
{
    for (size_t i = 0; i < directory->n; i++)
        free(directory->entries[i].name);
    free(directory->entries);
    free(directory->comment);
    *directory = (struct zip_directory){0};
}
