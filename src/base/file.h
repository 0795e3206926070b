/* Files: a read-only mapping of a whole file, and what a path stands for. Knows nothing of formats.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_FILE_H
#define IRRUN_BASE_FILE_H

#include "base/error.h"

struct file_map {
    const unsigned char *data; /* NULL for an empty file */
    size_t size_bytes;
};

/* Maps a regular file read-only; IRRUN_NO_INPUT if it cannot be opened or is no regular file. */
bool file_map_open(struct file_map *map, const char *path, struct irrun_error *err);
/* Says that some bytes will hardly be read again: the memory they lie in goes back, and is read
 * from the file if they are. Bytes outside the mapping are left alone; map may be NULL. */
void file_map_forget(const struct file_map *map, const void *data, size_t size_bytes);
void file_map_close(struct file_map *map);

/* The path of a file, which need not be there, without symbolic links and dots; malloc'ed. Where
 * not even the folder is there, `path` as it is. NULL: no memory. */
char *file_real_path(const char *path);

#endif
