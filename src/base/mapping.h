/* Records the addresses of mapped files, so that a SIGBUS handler can name the file. Reading a
 * mapped page raises SIGBUS if the file was truncated or cannot be read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_MAPPING_H
#define IRRUN_BASE_MAPPING_H

#include "base/error.h"

struct mapping;

/* Adds the mapping of the file `fd` at [data, data + size_bytes) to the list, and takes ownership
 * of fd. If memory runs out, fills *err and returns NULL; the caller then still owns fd. */
struct mapping *mapping_add(const void *data, size_t size_bytes, int fd, const char *path,
                            struct irrun_error *err);

/* Removes a mapping. Call it before the memory is unmapped. */
void mapping_remove(struct mapping *mapping);

int mapping_fd(const struct mapping *mapping);
const char *mapping_path(const struct mapping *mapping);

/* Returns the path of the file that is mapped at `address`, or NULL, and sets *is_truncated to
 * whether the file is now shorter than its mapping. Async-signal-safe. */
const char *mapping_find(const void *address, bool *is_truncated);

#endif
