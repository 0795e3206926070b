/* Files: a read-only mapping of a whole file. Knows nothing of formats.
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
void file_map_close(struct file_map *map);

#endif
