/* Writes output files atomically: a file has a temporary name in the target's directory, and is
 * renamed at the end. Standard output, devices and FIFOs are written directly.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_OUTPUT_FILE_H
#define IRRUN_BASE_OUTPUT_FILE_H

#include <stddef.h>

#include "base/error.h"

struct output_file {
    int fd;
    bool is_direct;          /* written in place, which cannot be undone */
    bool is_standard_output; /* its descriptor stays open */
    bool is_partial;         /* the temporary is PATH.partial, and stays after an error */
    bool is_synced;          /* fsync the file before the rename, its directory after it */
    char *path;              /* for messages: as given, or "standard output" */
    char *target;            /* the path with symbolic links resolved */
    char *temporary;         /* NULL if is_direct */
    size_t slot;             /* in the table of temporaries */
    struct signal_buffer *signal_buffer; /* NULL unless is_direct */
    bool is_locked; /* signal_buffer is locked: part of a record may have been written */
    unsigned char *buffer;
    size_t n_buffered;
    size_t n_complete; /* bytes of complete records */
    uint64_t offset;   /* bytes written, including the buffer */
};

/* Opens a file for writing; "-" is standard output. Fails with IRRUN_CANT_CREATE if the file cannot
 * be created, an existing file is not writable, or another process is writing it. output_file_abort
 * may be called after any failure. */
bool output_file_open(struct output_file *out, const char *path, struct irrun_error *err);

/* Locks `path` against other processes until this process has opened and finished it, or calls
 * temporaries_release. Fails with IRRUN_CANT_CREATE like output_file_open. Devices, FIFOs and
 * standard output are not reserved. */
bool output_file_reserve(const char *path, struct irrun_error *err);

/* Opens a file that a later process can continue. Its name is PATH.partial until output_file_finish
 * renames it; no failure or signal removes it. If it exists, its first keep_bytes are kept and the
 * rest is removed; fails with IRRUN_DATA if it is shorter. The caller must reserve the path. Fails
 * with IRRUN_USAGE for standard output, devices and FIFOs. */
bool output_file_open_partial(struct output_file *out, const char *path, uint64_t keep_bytes,
                              struct irrun_error *err);

/* Returns PATH.partial, with symbolic links in PATH resolved; NULL if memory runs out. The caller
 * frees the result. */
char *output_file_partial_path(const char *path);

/* Writes through a buffer. Errors: IRRUN_IO. */
bool output_file_write(struct output_file *out, const void *data, size_t size_bytes,
                       struct irrun_error *err);
bool output_file_flush(struct output_file *out, struct irrun_error *err);

/* Marks the end of a record. After output_file_abort or a signal, the complete records of a direct
 * file are still written. A record that fits into the buffer is never written in part. */
void output_file_end_record(struct output_file *out);

/* Flushes the buffer. If is_synced, also calls fsync, but not for direct files. */
bool output_file_sync(struct output_file *out, struct irrun_error *err);

/* Overwrites bytes that were written earlier. Must not be called for direct files. */
bool output_file_patch(struct output_file *out, uint64_t offset, const void *data,
                       size_t size_bytes, struct irrun_error *err);

/* Flushes, closes and renames the file, and frees the memory of *out. Fails with IRRUN_IO if a
 * write, a sync or the close fails, and with IRRUN_CANT_CREATE if the rename fails. The temporary
 * file is then removed unless is_partial. If only the sync of the directory failed, the file is
 * already renamed. */
bool output_file_finish(struct output_file *out, struct irrun_error *err);

/* Removes the temporary file unless is_partial. For a direct file, still writes the complete
 * records, and discards an incomplete one. A zeroed or finished *out is allowed. */
void output_file_abort(struct output_file *out);

bool output_file_is_terminal(const struct output_file *out);
bool output_file_is_pipe(const struct output_file *out); /* also true for a socket */

/* Returns TMPDIR if it is an absolute path, otherwise /tmp. */
const char *temporary_directory(void);

/* Creates an unnamed file in the directory of `path`, or, for standard output, in the directory for
 * temporary files. It is removed when its descriptor is closed. Errors: IRRUN_CANT_CREATE. */
bool output_file_open_unnamed(const char *path, int *fd, struct irrun_error *err);

#endif
