/* Reads and writes named tensors in an npz, for states and checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_TENSOR_FILE_H
#define IRRUN_CLI_TENSOR_FILE_H

#include "formats/format.h"

/* The type and shape that a member must have. */
struct member_info {
    const char *what;       /* "variable \"h\"", for messages */
    enum irrun_dtype dtype; /* IRRUN_DYNAMIC: any */
    struct irrun_partial_shape shape;
};

/* Reads member `member` of the archive. If its type or shape differs, fails with IRRUN_DATA before
 * unpacking. Types that NumPy lacks are stored as wider types and converted back; a value that this
 * would change is an error. value->data is malloc'ed and owned by the caller. */
bool tensor_file_read(struct archive *archive, size_t member, const char *path,
                      const struct member_info *info, struct irrun_tensor *value,
                      struct irrun_error *err);

/* Writes n tensors. The file is renamed when it is complete. */
bool tensor_file_write(const char *path, const char *const *names,
                       const struct irrun_tensor *const *values, size_t n,
                       const struct writer_options *options, struct irrun_error *err);

#endif
