/* Named tensors in an npz: what states and checkpoints are made of.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_TENSOR_FILE_H
#define IRRUN_CLI_TENSOR_FILE_H

#include "formats/format.h"

/* What a member must be. */
struct tensor_form {
    const char *what;       /* "variable \"h\"", for messages */
    enum irrun_dtype dtype; /* IRRUN_DYNAMIC: any */
    struct irrun_partial_shape shape;
};

/* Reads member `member` of the archive; IRRUN_DATA, before anything is unpacked, if it is of
 * another form. A type that NumPy lacks is read from the one it is stored as, if every value is one
 * of its own. value->data is malloc'ed, the caller's. */
bool tensor_file_read(struct archive *archive, size_t member, const char *path,
                      const struct tensor_form *form, struct irrun_tensor *value,
                      struct irrun_error *err);

/* Writes n tensors; the file appears complete or not at all. how: what goes beyond names. */
bool tensor_file_write(const char *path, const char *const *names,
                       const struct irrun_tensor *const *values, size_t n,
                       const struct writer_options *how, struct irrun_error *err);

#endif
