/* Which files are mapped at which addresses, for the handler of SIGBUS. A page raises SIGBUS if its
 * file was truncated or cannot be read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_MAPPING_H
#define IRRUN_BASE_MAPPING_H

#include "base/error.h"

struct mapping;

/* Records that [data, data + size_bytes) maps the file of descriptor `fd`, which the mapping then
 * owns. NULL with *err filled if there is no memory; then the caller keeps fd. */
struct mapping *mapping_add(const void *data, size_t size_bytes, int fd, const char *path,
                            struct irrun_error *err);
void mapping_remove(struct mapping *mapping); /* before the memory is unmapped; NULL is allowed */

int mapping_fd(const struct mapping *mapping);
const char *mapping_path(const struct mapping *mapping);

/* The path of the file that is mapped at `address`, NULL if none is; *is_truncated: the file is
 * shorter than it was. Async-signal-safe. */
const char *mapping_find(const void *address, bool *is_truncated);

#endif
