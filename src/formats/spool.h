/* Stores bytes until a file is finished, in memory up to SPOOL_MEMORY_BYTES, then in an unnamed
 * file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_SPOOL_H
#define IRRUN_FORMATS_SPOOL_H

#include <stddef.h>

#include "base/error.h"

#define SPOOL_MEMORY_BYTES ((size_t)256 * 1024)

/* Initialize with zeros, except for `beside`. */
struct spool {
    const char *beside; /* the file is made in the directory of this path; borrowed */
    unsigned char *memory;
    size_t n_memory, capacity;
    int fd; /* valid if is_on_disk */
    bool is_on_disk;
    uint64_t n_on_disk;
};

bool spool_write(struct spool *spool, const void *data, size_t size_bytes, struct irrun_error *err);

/* Passes all bytes to `visit`, in order. */
typedef bool spool_visit_fn(void *context, const void *data, size_t size_bytes,
                            struct irrun_error *err);
bool spool_read(struct spool *spool, spool_visit_fn *visit, void *context, struct irrun_error *err);

uint64_t spool_n_bytes(const struct spool *spool);
void spool_free(struct spool *spool);

#endif
