/* Reads npz: a zip archive of npy documents, stored or deflated, ZIP64 included. Each member is
 * streamed through a handle of its own. Writing is npz_writer.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <minizip/unzip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "formats/format_methods.h"
#include "formats/zip_io.h"

struct member {
    struct array_header header; /* its name is malloc'ed */
    char *name;
    unz64_file_pos position;
    uint64_t size_bytes; /* unpacked, as the directory says */
};

struct archive {
    char *path; /* as shown */
    int fd;
    struct member *members;
    size_t n_members, capacity;
    size_t *by_name; /* the members' indices in the order of their names */
    char *comment;
};

static struct place place_of(const struct archive *archive)
{
    return (struct place){archive->path, 0, 0};
}

static unzFile open_zip(const struct archive *archive)
{
    zlib_filefunc64_def functions = zip_reading_functions(&archive->fd);
    return unzOpen2_64("", &functions);
}

/* ---- A member as a source of bytes ----------------------------------------------------------- */

static bool read_member(struct byte_source *source, void *data, size_t n, size_t *n_read,
                        struct irrun_error *err)
{
    unzFile zip = source->context;
    unsigned step = n < ((size_t)1 << 30) ? (unsigned)n : 1u << 30;
    *n_read = 0;
    if (unzeof(zip) < 0) /* closed: it was read to its end */
        return true;
    int got = unzReadCurrentFile(zip, data, step);
    *n_read = got > 0 ? (size_t)got : 0;
    if (got < 0)
        return fail_at(err, IRRUN_DATA, (struct place){source->path, 0, 0},
                       "the archive is damaged: a member cannot be unpacked (%d)", got);
    /* The sum can be checked once everything was read. */
    bool is_whole = got == 0 || unzeof(zip) == 1;
    if (is_whole && unzCloseCurrentFile(zip) == UNZ_CRCERROR)
        return fail_at(err, IRRUN_DATA, (struct place){source->path, 0, 0},
                       "the archive is damaged: the checksum of a member is wrong");
    return true;
}

/* Only back to the beginning. */
static bool seek_member(struct byte_source *source, uint64_t offset, struct irrun_error *err)
{
    unzCloseCurrentFile(source->context);
    if (offset == 0 && unzOpenCurrentFile(source->context) == UNZ_OK)
        return true;
    return fail_at(err, IRRUN_DATA, (struct place){source->path, 0, 0},
                   "a member of the archive cannot be opened again");
}

static void close_member(struct byte_source *source)
{
    unzCloseCurrentFile(source->context);
    unzClose(source->context);
}

static const struct byte_origin member_origin = {read_member, seek_member, close_member};

/* A reader of the member at which `zip` stands; the reader owns zip, also if it fails. */
static struct reader *new_member_reader(const struct archive *archive, unzFile zip,
                                        const char *name, uint64_t size_bytes,
                                        struct irrun_error *err)
{
    int status = unzOpenCurrentFile(zip);
    if (status != UNZ_OK) {
        unzClose(zip);
        fail_at(err, IRRUN_DATA, place_of(archive), "member \"%s\" cannot be opened (%d)", name,
                status);
        return NULL;
    }
    struct reader *reader = reader_new(&npy_reader, archive->path, err);
    if (reader == NULL) {
        unzClose(zip);
        return NULL;
    }
    free(reader->path);
    reader->path = NULL;
    reader->source = (struct byte_source){
        .origin = &member_origin, .context = zip, .fd = -1, .size_bytes = size_bytes};
    reader->source.can_rewind = true;
    reader->name = strdup(name);
    if (reader->name == NULL || asprintf(&reader->path, "%s(%s)", archive->path, name) < 0) {
        fail_memory(err, strlen(archive->path) + strlen(name) + 3);
        reader->path = NULL;
        reader_close(reader);
        return NULL;
    }
    reader->source.path = reader->path;
    if (source_open(&reader->source, err))
        return reader;
    reader_close(reader);
    return NULL;
}

bool archive_open_member(struct archive *archive, size_t index, struct reader **reader,
                         struct irrun_error *err)
{
    const struct member *member = &archive->members[index];
    unzFile zip = open_zip(archive);
    *reader = NULL;
    if (zip == NULL || unzGoToFilePos64(zip, &member->position) != UNZ_OK) {
        if (zip)
            unzClose(zip);
        return fail_at(err, IRRUN_DATA, place_of(archive), "the archive cannot be opened again");
    }
    *reader = new_member_reader(archive, zip, member->name, member->size_bytes, err);
    return *reader != NULL;
}

/* ---- The directory --------------------------------------------------------------------------- */

#define FLAG_ENCRYPTED 1u
#define METHOD_STORED 0u
#define METHOD_DEFLATED 8u

static bool check_member(const struct archive *archive, const unz_file_info64 *info,
                         const char *name, struct irrun_error *err)
{
    if (info->flag & FLAG_ENCRYPTED)
        return fail_at(err, IRRUN_DATA, place_of(archive), "member \"%s\" is encrypted", name);
    if (info->compression_method != METHOD_STORED && info->compression_method != METHOD_DEFLATED)
        return fail_at(err, IRRUN_DATA, place_of(archive),
                       "member \"%s\" is compressed by method %lu; stored and deflated ones can "
                       "be read",
                       name, info->compression_method);
    return true;
}

/* The member's own header, through a reader as any other. */
static bool read_member_header(struct archive *archive, size_t index, struct irrun_error *err)
{
    struct reader *reader;
    struct array_header *header = &archive->members[index].header;
    bool is_end;
    if (!archive_open_member(archive, index, &reader, err))
        return false;
    bool is_read = reader_next(reader, header, &is_end, err);
    reader_close(reader);
    header->name = archive->members[index].name;
    return is_read;
}

/* Adds the member at which `zip` stands; `name` becomes the archive's. Folders are passed over. */
static bool add_member(struct archive *archive, unzFile zip, const unz_file_info64 *info,
                       char *name, struct irrun_error *err)
{
    size_t length = strlen(name);
    if (length != 0 && name[length - 1] == '/' && info->uncompressed_size == 0) {
        free(name);
        return true;
    }
    if (length > 4 && strcmp(name + length - 4, ".npy") == 0)
        name[length - 4] = '\0';
    void *members = archive->members;
    bool is_good =
        check_member(archive, info, name, err) &&
        grow_array(&members, archive->n_members, &archive->capacity, sizeof *archive->members, err);
    archive->members = members;
    if (!is_good) {
        free(name);
        return false;
    }
    struct member *member = &archive->members[archive->n_members++];
    *member = (struct member){.name = name, .size_bytes = info->uncompressed_size};
    if (unzGetFilePos64(zip, &member->position) != UNZ_OK)
        return fail_at(err, IRRUN_DATA, place_of(archive), "the archive's directory is damaged");
    return read_member_header(archive, archive->n_members - 1, err);
}

static bool read_entry(struct archive *archive, unzFile zip, struct irrun_error *err)
{
    unz_file_info64 info;
    if (unzGetCurrentFileInfo64(zip, &info, NULL, 0, NULL, 0, NULL, 0) != UNZ_OK)
        return fail_at(err, IRRUN_DATA, place_of(archive), "the archive's directory is damaged");
    char *name = calloc(1, info.size_filename + 1);
    if (name == NULL)
        return fail_memory(err, info.size_filename + 1);
    if (unzGetCurrentFileInfo64(zip, &info, name, info.size_filename + 1, NULL, 0, NULL, 0) !=
        UNZ_OK) {
        free(name);
        return fail_at(err, IRRUN_DATA, place_of(archive), "the archive's directory is damaged");
    }
    return add_member(archive, zip, &info, name, err);
}

static bool read_comment(struct archive *archive, unzFile zip, struct irrun_error *err)
{
    unz_global_info64 info;
    if (unzGetGlobalInfo64(zip, &info) != UNZ_OK)
        info.size_comment = 0;
    archive->comment = calloc(1, info.size_comment + 1);
    if (archive->comment == NULL)
        return fail_memory(err, info.size_comment + 1);
    if (info.size_comment != 0)
        unzGetGlobalComment(zip, archive->comment, info.size_comment + 1);
    return true;
}

static int compare_names(const void *a, const void *b, void *context)
{
    const struct member *members = context;
    return strcmp(members[*(const size_t *)a].name, members[*(const size_t *)b].name);
}

static bool sort_members(struct archive *archive, struct irrun_error *err)
{
    size_t n = archive->n_members;
    archive->by_name = calloc(n ? n : 1, sizeof *archive->by_name);
    if (archive->by_name == NULL)
        return fail_memory(err, n * sizeof *archive->by_name);
    for (size_t i = 0; i < n; i++)
        archive->by_name[i] = i;
    qsort_r(archive->by_name, n, sizeof *archive->by_name, compare_names, archive->members);
    for (size_t i = 1; i < n; i++)
        if (compare_names(&archive->by_name[i - 1], &archive->by_name[i], archive->members) == 0)
            return fail_at(err, IRRUN_DATA, place_of(archive), "there are two members \"%s\"",
                           archive->members[archive->by_name[i]].name);
    return true;
}

/* An archive without members is its end record alone, which minizip does not take for one. */
static bool read_empty(struct archive *archive)
{
    unsigned char record[22];
    if (pread(archive->fd, record, sizeof record, 0) != sizeof record ||
        memcmp(record, "PK\5\6\0\0\0\0\0\0\0\0", 12) != 0)
        return false;
    size_t n = (size_t)record[20] | (size_t)record[21] << 8;
    archive->comment = calloc(1, n + 1);
    return archive->comment && pread(archive->fd, archive->comment, n, sizeof record) == (ssize_t)n;
}

static bool read_directory(struct archive *archive, struct irrun_error *err)
{
    unzFile zip = open_zip(archive);
    if (zip == NULL && read_empty(archive))
        return sort_members(archive, err);
    if (zip == NULL)
        return fail_at(err, IRRUN_DATA, place_of(archive),
                       "is not an npz archive, or it is truncated");
    bool is_read = read_comment(archive, zip, err);
    int status = unzGoToFirstFile(zip);
    while (is_read && status == UNZ_OK) {
        is_read = read_entry(archive, zip, err);
        status = unzGoToNextFile(zip);
    }
    unzClose(zip);
    if (is_read && status != UNZ_END_OF_LIST_OF_FILE && archive->n_members != 0)
        return fail_at(err, IRRUN_DATA, place_of(archive), "the archive's directory is damaged");
    return is_read && sort_members(archive, err);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* A pipe is copied to an unnamed file: the directory of a zip stands at its end. */
static bool spool_input(struct archive *archive, struct irrun_error *err)
{
    int fd;
    if (!output_file_open_unnamed("-", &fd, err))
        return false;
    unsigned char block[16 * 1024];
    ssize_t n = 0;
    bool is_copied = true;
    while (is_copied && (n = read(archive->fd, block, sizeof block)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        errno = n > 0 ? ENOSPC : errno; /* a short write says no reason */
        is_copied = n > 0 && write(fd, block, (size_t)n) == n;
    }
    if (!is_copied) {
        int reason = errno;
        close(fd);
        return fail_at(err, IRRUN_SYSTEM, place_of(archive), "cannot be copied to a file: %s",
                       strerror(reason));
    }
    if (archive->fd > STDIN_FILENO)
        close(archive->fd);
    archive->fd = fd;
    return true;
}

static bool open_archive(struct archive *archive, const char *path, struct irrun_error *err)
{
    struct byte_source source;
    bool is_open = source_open_file(&source, path, archive->path, err);
    archive->fd = source.fd;
    bool is_plain = source.can_seek && source.first_offset == 0;
    /* The descriptor is kept, the buffer is not needed. */
    source.fd = -1;
    source_close(&source);
    return is_open && (is_plain || spool_input(archive, err)) && read_directory(archive, err);
}

bool archive_open(const char *path, struct archive **archive, struct irrun_error *err)
{
    struct archive *opened = calloc(1, sizeof *opened);
    *archive = NULL;
    if (opened == NULL)
        return fail_memory(err, sizeof *opened);
    opened->fd = -1;
    opened->path = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    if (opened->path == NULL)
        fail_memory(err, strlen(path));
    if (opened->path == NULL || !open_archive(opened, path, err)) {
        archive_close(opened);
        return false;
    }
    *archive = opened;
    return true;
}

void archive_close(struct archive *archive)
{
    if (archive == NULL)
        return;
    for (size_t i = 0; i < archive->n_members; i++)
        free(archive->members[i].name);
    if (archive->fd > STDIN_FILENO)
        close(archive->fd);
    free(archive->members);
    free(archive->by_name);
    free(archive->comment);
    free(archive->path);
    free(archive);
}

size_t archive_n_members(const struct archive *archive)
{
    return archive->n_members;
}

const struct array_header *archive_member(const struct archive *archive, size_t index)
{
    return &archive->members[index].header;
}

bool archive_find(const struct archive *archive, const char *name, size_t *index)
{
    size_t low = 0, high = archive->n_members;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        *index = archive->by_name[middle];
        int order = strcmp(name, archive->members[*index].name);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

const char *archive_comment(const struct archive *archive)
{
    return archive->comment;
}
