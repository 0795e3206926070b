/* How minizip writes an archive: through an output file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_ZIP_SINK_H
#define IRRUN_FORMATS_ZIP_SINK_H

#include <minizip/ioapi.h>

#include "base/output_file.h"

struct zip_sink {
    struct output_file *out;
    struct irrun_error *err; /* says why, when minizip reports a failure */
    uint64_t offset;
};

/* For zipOpen2_64; the sink is borrowed. */
zlib_filefunc64_def zip_sink_functions(struct zip_sink *sink);

#endif
