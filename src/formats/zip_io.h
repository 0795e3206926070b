/* How minizip reads and writes our files: by descriptor, at offsets of its own, so that several
 * handles may share one descriptor.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_ZIP_IO_H
#define IRRUN_FORMATS_ZIP_IO_H

#include <minizip/ioapi.h>

#include "base/output_file.h"

/* A handle for unzOpen2_64 on a descriptor, which stays the caller's. */
zlib_filefunc64_def zip_reading_functions(const int *fd);

/* For zipOpen2_64: what it writes goes to `out`. When minizip reports a failure, err says which. */
struct zip_sink {
    struct output_file *out;
    struct irrun_error *err;
    uint64_t offset;
};

zlib_filefunc64_def zip_writing_functions(struct zip_sink *sink);

#endif
