/* Which file a path leads to: whether two paths mean one file, without keeping either.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_FILE_IDENTITY_H
#define IRRUN_CLI_FILE_IDENTITY_H

#include "base/digest.h"
#include "base/error.h"

/* Two paths to one file share one of these at least. */
struct file_identity {
    bool is_file;          /* regular, or not there yet; else nothing below counts */
    bool has_path;         /* false: a stream, which has no name here */
    struct digest by_path; /* of the real path */
    struct digest by_file; /* of device and inode; not there yet: of those of its folder, and the
                              name */
};

/* IRRUN_SYSTEM without memory only: of what cannot be examined the path counts as it is. */
bool file_identity_of_path(const char *path, struct file_identity *identity,
                           struct irrun_error *err);
void file_identity_of_stream(int fd, struct file_identity *identity);

#endif
