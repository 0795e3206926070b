/* Maps or reads whole files into memory, read-only, and resolves paths.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_FILE_H
#define IRRUN_BASE_FILE_H

#include <time.h>

#include "base/error.h"

struct mapping;

/* The hint of errors about a file that was modified while it was in use. */
#define FILE_CHANGED_HINT "rename a new file over the old one: a run keeps the one it has opened"

struct file_map {
    const unsigned char *data; /* NULL for an empty file */
    size_t size_bytes;
    struct timespec written; /* modification time when it was opened */
    struct mapping *mapping; /* NULL: the bytes are a copy, or there are none */
};

/* Maps a regular file, or copies it if it is small. Errors: IRRUN_NO_INPUT if the file cannot be
 * opened or read or is not regular, IRRUN_DATA if it is modified while it is read, IRRUN_SYSTEM if
 * it is too large or cannot be mapped, or memory runs out. */
bool file_map_open(struct file_map *map, const char *path, struct irrun_error *err);

/* Fails with IRRUN_DATA if a mapped file was modified after it was opened, because some bytes may
 * be old and some new. Replacing the file by a rename is safe. A copied file always passes. */
bool file_map_check(const struct file_map *map, struct irrun_error *err);

/* Lets the kernel drop the pages of bytes that will probably not be read again; a later read loads
 * them from the file. Ignores bytes outside the mapping. map may be NULL. */
void file_map_dontneed(const struct file_map *map, const void *data, size_t size_bytes);
void file_map_close(struct file_map *map);

/* Reads until `data` is full or the file ends. Errors: IRRUN_NO_INPUT. */
bool file_read_full(int fd, const char *path, void *data, size_t size_bytes, size_t *n_read,
                    struct irrun_error *err);

/* file_read_at reads from an offset until `data` is full or the file ends; file_write_at writes all
 * of `data` at an offset. Both return false with errno set on failure, and retry calls that a
 * signal interrupts. */
bool file_read_at(int fd, uint64_t offset, void *data, size_t size_bytes, size_t *n_read);
bool file_write_at(int fd, uint64_t offset, const void *data, size_t size_bytes);

bool file_is_directory(const char *path);

/* Copies the permissions of the file at `path`, if it exists, to the open file `fd`. */
void file_copy_permissions(const char *path, int fd);

/* Returns the directory part of a path, up to its last "/", or "." if it has none; NULL if memory
 * runs out. The caller frees the result. */
char *file_directory(const char *path);

/* Returns the path of a file with symbolic links, "." and ".." resolved. The file need not exist.
 * If the path cannot be resolved, for example because its directory does not exist, returns a copy
 * of the path; NULL if memory runs out. The caller frees the result. */
char *file_real_path(const char *path);

/* Returns the path with its extension replaced by `extension`, such as ".bin"; NULL if memory runs
 * out. The caller frees the result. */
char *file_with_extension(const char *path, const char *extension);

#endif
