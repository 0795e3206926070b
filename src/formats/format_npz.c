/* Reads npz: a zip archive of npy files. archive_open reads the headers of all members; independent
 * readers read their elements. npz_writer.c writes npz.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "formats/format_internal.h"
#include "formats/zip_directory.h"

struct member {
    struct array_header header; /* header.name is `name` */
    char *name;                 /* without ".npy" */
    const struct zip_entry *entry;
};

struct archive {
    char *path; /* for messages */
    int fd;
    struct zip_directory directory;
    struct member *members; /* in the order of the archive's directory */
    size_t n_members;
    size_t *by_name; /* indices of the members, sorted by name */
};

/* ---- Members --------------------------------------------------------------------------------- */

bool archive_open_member(struct archive *archive, size_t index, struct reader **reader,
                         struct irrun_error *err)
{
    const struct member *member = &archive->members[index];
    char *path = NULL;
    *reader = NULL;
    if (asprintf(&path, "%s(%s)", archive->path, member->name) < 0)
        return fail_memory(err, strlen(archive->path) + strlen(member->name) + 3);
    struct reader *made = reader_new(&npy_reader, path, err);
    free(path);
    if (made == NULL)
        return false;
    made->name = strdup(member->name);
    if (made->name == NULL)
        fail_memory(err, strlen(member->name) + 1);
    else if (zip_member_open(&made->source, archive->fd, member->entry, made->path, err))
        *reader = made;
    if (*reader == NULL)
        reader_close(made);
    return *reader != NULL;
}

/* Reads the header of a member. */
static bool read_header(struct archive *archive, size_t index, struct irrun_error *err)
{
    struct reader *reader;
    struct member *member = &archive->members[index];
    bool is_end;
    if (!archive_open_member(archive, index, &reader, err))
        return false;
    bool is_read = reader_next(reader, &member->header, &is_end, err);
    reader_close(reader);
    member->header.name = member->name;
    return is_read;
}

static bool is_directory(const struct zip_entry *entry)
{
    size_t length = strlen(entry->name);
    return length != 0 && entry->name[length - 1] == '/' && entry->size_bytes == 0;
}

static bool list_members(struct archive *archive, struct irrun_error *err)
{
    size_t n = archive->directory.n;
    archive->members = new_array(n, sizeof *archive->members, err);
    if (archive->members == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct zip_entry *entry = &archive->directory.entries[i];
        if (is_directory(entry))
            continue;
        size_t length = strlen(entry->name);
        if (length > 4 && strcmp(entry->name + length - 4, ".npy") == 0)
            length -= 4;
        struct member *member = &archive->members[archive->n_members++];
        member->entry = entry;
        member->name = strndup(entry->name, length);
        if (member->name == NULL)
            return fail_memory(err, length + 1);
    }
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
    archive->by_name = new_array(n, sizeof *archive->by_name, err);
    if (archive->by_name == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        archive->by_name[i] = i;
    qsort_r(archive->by_name, n, sizeof *archive->by_name, compare_names, archive->members);
    for (size_t i = 1; i < n; i++)
        if (compare_names(&archive->by_name[i - 1], &archive->by_name[i], archive->members) == 0)
            return fail_at(err, IRRUN_DATA, whole_file(archive->path),
                           "there are two members \"%s\"",
                           archive->members[archive->by_name[i]].name);
    return true;
}

static bool read_members(struct archive *archive, struct irrun_error *err)
{
    if (!zip_directory_read(&archive->directory, archive->fd, archive->path, err) ||
        !list_members(archive, err) || !sort_members(archive, err))
        return false;
    for (size_t i = 0; i < archive->n_members; i++)
        if (!read_header(archive, i, err))
            return false;
    return true;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Copies the rest of the source. */
static bool copy_rest(struct byte_source *source, int fd, struct irrun_error *err)
{
    for (;;) {
        if (!source_want(source, 1, err))
            return false;
        if (source_available(source) == 0)
            return true;
        ssize_t n = write(fd, source_bytes(source), source_available(source));
        if (n < 0 && errno != EINTR)
            return fail_errno(err, IRRUN_SYSTEM, source->path, "cannot be copied to a file", errno);
        if (n > 0)
            source_consume(source, (size_t)n);
    }
}

/* Opens an archive. A pipe is copied to an unnamed file, because the directory of a zip is at its
 * end. */
static bool open_archive(struct archive *archive, const char *path, struct irrun_error *err)
{
    struct byte_source source;
    bool is_open = source_open_file(&source, path, archive->path, err);
    if (is_open && source.can_seek && source.first_offset == 0) {
        /* The archive keeps the descriptor, but not the buffer. */
        archive->fd = source.fd;
        source.fd = -1;
    } else if (is_open) {
        is_open = output_file_open_unnamed("-", &archive->fd, err) &&
                  copy_rest(&source, archive->fd, err);
    }
    source_close(&source);
    return is_open && read_members(archive, err);
}

bool archive_open(const char *path, struct archive **archive, struct irrun_error *err)
{
    struct archive *opened = calloc(1, sizeof *opened);
    *archive = NULL;
    if (opened == NULL)
        return fail_memory(err, sizeof *opened);
    opened->fd = -1;
    opened->path = strdup(strcmp(path, "-") == 0 ? STANDARD_INPUT : path);
    bool is_open =
        opened->path ? open_archive(opened, path, err) : fail_memory(err, strlen(path) + 1);
    if (is_open)
        *archive = opened;
    else
        archive_close(opened);
    return is_open;
}

void archive_close(struct archive *archive)
{
    if (archive == NULL)
        return;
    for (size_t i = 0; i < archive->n_members; i++)
        free(archive->members[i].name);
    if (archive->fd > STDIN_FILENO)
        close(archive->fd);
    zip_directory_free(&archive->directory);
    free(archive->members);
    free(archive->by_name);
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
    return archive->directory.comment;
}
