/* Writes a zip archive of stored members sequentially, with ZIP64 if sizes require it. The size and
 * checksum of a member must be known before its bytes, so that headers need not be patched. Source:
 * PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_ZIP_WRITER_H
#define IRRUN_FORMATS_ZIP_WRITER_H

#include "base/output_file.h"
#include "base/text.h"

/* Initialize with zeros, except for `out`. */
struct zip_writer {
    struct output_file *out; /* borrowed; the archive starts at its first byte */
    struct text directory;   /* the entries of the members */
    uint64_t n_members;
};

/* Begins a member. The caller then writes its size_bytes bytes, whose CRC-32 is crc, to `out`. The
 * name is UTF-8; fails with IRRUN_IO if it has more than 65535 bytes. */
bool zip_writer_add(struct zip_writer *zip, const char *name, uint64_t size_bytes, uint32_t crc,
                    struct irrun_error *err);

/* Writes the directory. comment: at most 65535 bytes; NULL for none. */
bool zip_writer_finish(struct zip_writer *zip, const char *comment, struct irrun_error *err);
void zip_writer_free(struct zip_writer *zip);

#endif
