/* Reads the directory of a zip archive and the bytes of its members, including ZIP64. zip_writer.h
 * writes archives. Source: PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_ZIP_DIRECTORY_H
#define IRRUN_FORMATS_ZIP_DIRECTORY_H

#include "formats/byte_order.h"
#include "formats/byte_source.h"

struct zip_entry {
    char *name;            /* as in the archive */
    uint64_t offset;       /* of its local header */
    uint64_t packed_bytes; /* in the archive */
    uint64_t size_bytes;   /* unpacked */
    uint32_t crc;
    uint16_t method; /* 0 stored, 8 deflated; others cannot be opened */
    bool is_encrypted;
};

/* All zeros: empty. */
struct zip_directory {
    struct zip_entry *entries;
    size_t n, capacity;
    char *comment; /* "" if there is none; NULL before it is read */
};

/* Reads the directory of a regular file; `path` is for messages. Fails with IRRUN_DATA if an offset
 * or size is beyond the size of the file. Call zip_directory_free even after a failure. */
bool zip_directory_read(struct zip_directory *directory, int fd, const char *path,
                        struct irrun_error *err);
void zip_directory_free(struct zip_directory *directory);

/* Opens a member as a source that can be rewound. Sources read by offset, so that several may share
 * `fd`. Reading the last byte fails with IRRUN_DATA if the checksum is wrong. `path` and
 * `fd` are borrowed. */
bool zip_member_open(struct byte_source *source, int fd, const struct zip_entry *entry,
                     const char *path, struct irrun_error *err);

/* Reads up to n bytes at an offset; fewer only at the end. Fails with IRRUN_NO_INPUT. */
bool zip_read_at(int fd, const char *path, uint64_t offset, void *data, size_t n, size_t *n_read,
                 struct irrun_error *err);

#endif
