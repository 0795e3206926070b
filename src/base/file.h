/* Read-only files in memory, and the real path of a file. Knows nothing about formats.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_FILE_H
#define IRRUN_BASE_FILE_H

#include <time.h>

#include "base/error.h"

struct mapping;

/* What to do instead of writing to a file that is in use. */
#define FILE_CHANGED_HINT "rename a new file over the old one: a run keeps the one it has opened"

struct file_map {
    const unsigned char *data; /* NULL for an empty file */
    size_t size_bytes;
    struct timespec written; /* modification time when it was opened */
    struct mapping *mapping; /* NULL: the bytes are a copy, or there are none */
};

/* Maps a regular file, or copies it if it is small. IRRUN_NO_INPUT if it cannot be opened or read,
 * or is not a regular file, IRRUN_DATA if somebody writes to it meanwhile. */
bool file_map_open(struct file_map *map, const char *path, struct irrun_error *err);

/* IRRUN_DATA if somebody has written to the file since it was mapped: the bytes may be of the old
 * file and of the new. A file that replaced it does not count, and a copy cannot change. */
bool file_map_check(const struct file_map *map, struct irrun_error *err);

/* Says that some bytes will hardly be read again: frees their pages. If they are read, they come
 * from the file again. Bytes outside the mapping are left alone; map may be NULL. */
void file_map_dontneed(const struct file_map *map, const void *data, size_t size_bytes);
void file_map_close(struct file_map *map);

/* Reads until `data` is full or the file ends. IRRUN_NO_INPUT. */
bool file_read_full(int fd, const char *path, void *data, size_t size_bytes, size_t *n_read,
                    struct irrun_error *err);

/* The path of a file, which need not exist, without symbolic links and dots; malloc'ed. A copy of
 * `path` if its directory does not exist. NULL: no memory. */
char *file_real_path(const char *path);

#endif
