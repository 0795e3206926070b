/* Writes a zip archive of stored members from front to back, ZIP64 where sizes ask for it. The size
 * and the checksum of a member are known before its bytes, so that nothing is patched.
 * Source: PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_ZIP_WRITER_H
#define IRRUN_FORMATS_ZIP_WRITER_H

#include "base/output_file.h"
#include "base/text.h"

/* All zero but for `out` = an archive without members. */
struct zip_writer {
    struct output_file *out; /* borrowed; the archive begins where it begins */
    struct text directory;   /* the members' records in it */
    uint64_t n_members;
};

/* Begins a member; its size_bytes bytes, whose checksum is crc, are the caller's to write to `out`
 * before anything else. The name is UTF-8; IRRUN_IO if it is longer than zip can say. */
bool zip_writer_add(struct zip_writer *zip, const char *name, uint64_t size_bytes, uint32_t crc,
                    struct irrun_error *err);

/* Writes the directory. comment: at most 65535 bytes; NULL for none. */
bool zip_writer_finish(struct zip_writer *zip, const char *comment, struct irrun_error *err);
void zip_writer_free(struct zip_writer *zip);

#endif
