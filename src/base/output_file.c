/* Writes output files, which appear under their name only when they are complete.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/signal_flush.h"
#include "base/temporaries.h"

#define BUFFER_BYTES ((size_t)64 * 1024)

/* ---- Opening ----------------------------------------------------------------------------------*/

static bool fail_create(const char *path, int reason, struct irrun_error *err)
{
    return fail_errno(err, IRRUN_CANT_CREATE, path, "cannot be created", reason);
}

static bool open_standard_output(struct output_file *out, struct irrun_error *err)
{
    out->fd = STDOUT_FILENO;
    out->is_direct = out->is_standard_output = true;
    out->signal_buffer = signal_buffer_open(out->fd, out->buffer);
    out->path = strdup(STANDARD_OUTPUT);
    return out->path || fail_memory(err, sizeof STANDARD_OUTPUT);
}

static bool open_directly(struct output_file *out, struct irrun_error *err)
{
    out->is_direct = true;
    out->fd = open(out->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (out->fd < 0)
        return fail_create(out->path, errno, err);
    out->signal_buffer = signal_buffer_open(out->fd, out->buffer);
    return true;
}

/* Sets *target to the path of the regular file that `path` names, or to NULL for a device, a FIFO
 * or standard output. */
static bool find_target(const char *path, char **target, struct irrun_error *err)
{
    struct stat status;
    *target = NULL;
    if (strcmp(path, "-") == 0)
        return true;
    bool exists = stat(path, &status) == 0;
    if (!exists && (errno != ENOENT || path[0] == '\0'))
        return fail_create(path, errno, err);
    if (exists && S_ISDIR(status.st_mode))
        return fail_create(path, EISDIR, err);
    if (exists && !S_ISREG(status.st_mode))
        return true;
    if (exists && access(path, W_OK) != 0)
        return fail_create(path, errno, err);
    *target = file_real_path(path);
    return *target || fail_memory(err, strlen(path) + 1);
}

/* Fails because the file cannot be created or, if reason is EWOULDBLOCK, because the process
 * `holder` (0: unknown) has locked it. */
static bool fail_locked(const char *path, long holder, int reason, struct irrun_error *err)
{
    char who[64] = "another process";
    if (reason != EWOULDBLOCK)
        return fail_create(path, reason, err);
    if (holder > 0)
        snprintf(who, sizeof who, "process %ld", holder);
    fail_at(err, IRRUN_CANT_CREATE, whole_file(path), "is being written by %s", who);
    return fail_hint(err, "wait for it to end, or write to another file");
}

bool output_file_reserve(const char *path, struct irrun_error *err)
{
    char *target;
    long holder;
    if (!find_target(path, &target, err))
        return false;
    bool is_reserved =
        !target || temporary_reserve(target, &holder) || fail_locked(path, holder, errno, err);
    free(target);
    return is_reserved;
}

static bool open_temporary(struct output_file *out, struct irrun_error *err)
{
    long holder;
    out->fd = temporary_create(out->target, &out->temporary, &out->slot, &holder);
    if (out->fd >= 0)
        file_copy_permissions(out->target, out->fd);
    return out->fd >= 0 || fail_locked(out->path, holder, errno, err);
}

bool output_file_open(struct output_file *out, const char *path, struct irrun_error *err)
{
    *out = (struct output_file){.fd = -1, .slot = NO_TEMPORARY};
    out->buffer = malloc(BUFFER_BYTES);
    if (out->buffer == NULL)
        return fail_memory(err, BUFFER_BYTES);
    if (strcmp(path, "-") == 0)
        return open_standard_output(out, err);

    out->path = strdup(path);
    if (out->path == NULL)
        return fail_memory(err, strlen(path) + 1);
    return find_target(path, &out->target, err) &&
           (out->target ? open_temporary(out, err) : open_directly(out, err));
}

static char *partial_of(const char *target)
{
    char *partial;
    return target != NULL && asprintf(&partial, "%s.partial", target) >= 0 ? partial : NULL;
}

char *output_file_partial_path(const char *path)
{
    char *target = file_real_path(path), *partial = partial_of(target);
    free(target);
    return partial;
}

static bool open_partial(struct output_file *out, uint64_t keep_bytes, struct irrun_error *err)
{
    struct stat status;
    out->is_partial = true;
    out->target = file_real_path(out->path);
    out->temporary = partial_of(out->target);
    if (out->temporary == NULL)
        return fail_memory(err, strlen(out->path) + sizeof ".partial");
    out->fd = open(out->temporary, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (out->fd < 0 || fstat(out->fd, &status) != 0)
        return fail_create(out->temporary, errno, err);
    if (!S_ISREG(status.st_mode))
        return fail_at(err, IRRUN_CANT_CREATE, whole_file(out->temporary), "is not a regular file");
    file_copy_permissions(out->target, out->fd);
    if ((uint64_t)status.st_size < keep_bytes)
        return fail_at(err, IRRUN_DATA, whole_file(out->temporary),
                       "has %lld bytes, fewer than the %llu that were written",
                       (long long)status.st_size, (unsigned long long)keep_bytes);
    if (ftruncate(out->fd, (off_t)keep_bytes) != 0 ||
        lseek(out->fd, (off_t)keep_bytes, SEEK_SET) < 0)
        return fail_create(out->temporary, errno, err);
    out->offset = keep_bytes;
    return true;
}

bool output_file_open_partial(struct output_file *out, const char *path, uint64_t keep_bytes,
                              struct irrun_error *err)
{
    struct stat status;
    *out = (struct output_file){.fd = -1, .slot = NO_TEMPORARY};
    if (strcmp(path, "-") == 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return fail(err, IRRUN_USAGE, "'%s' is not a regular file", path);
    out->buffer = malloc(BUFFER_BYTES);
    out->path = strdup(path);
    if (out->buffer == NULL || out->path == NULL)
        return fail_memory(err, BUFFER_BYTES);
    return open_partial(out, keep_bytes, err);
}

const char *temporary_directory(void)
{
    const char *directory = getenv("TMPDIR");
    return directory && directory[0] == '/' ? directory : "/tmp";
}

bool output_file_open_unnamed(const char *path, int *fd, struct irrun_error *err)
{
    char *sibling = NULL;
    if (strcmp(path, "-") != 0)
        sibling = strdup(path);
    else if (asprintf(&sibling, "%s/x", temporary_directory()) < 0)
        sibling = NULL;
    if (sibling == NULL)
        return fail_memory(err, strlen(path) + 1);
    *fd = temporary_create_unnamed(sibling);
    if (*fd < 0)
        fail_create(sibling, errno, err);
    free(sibling);
    return *fd >= 0;
}

bool output_file_is_terminal(const struct output_file *out)
{
    return isatty(out->fd) == 1;
}

bool output_file_is_pipe(const struct output_file *out)
{
    struct stat status;
    return fstat(out->fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* ---- Writing ----------------------------------------------------------------------------------*/

static bool fail_write(const struct output_file *out, int reason, struct irrun_error *err)
{
    return fail_errno(err, IRRUN_IO, out->path, "cannot be written", reason);
}

/* Returns whether to retry the write that failed with `reason`. */
static bool may_retry(const struct output_file *out, int reason)
{
    if (reason == EINTR)
        return true;
    if (reason != EAGAIN)
        return false;
    /* Another process has made the descriptor non-blocking: wait until it is writable. */
    struct pollfd wait = {.fd = out->fd, .events = POLLOUT};
    return poll(&wait, 1, -1) > 0 || errno == EINTR;
}

static bool write_through(const struct output_file *out, const unsigned char *data,
                          size_t size_bytes, struct irrun_error *err)
{
    while (size_bytes != 0) {
        ssize_t n = write(out->fd, data, size_bytes);
        if (n < 0 && !may_retry(out, errno))
            return fail_write(out, errno, err);
        if (n > 0) {
            data += n;
            size_bytes -= (size_t)n;
        }
    }
    return true;
}

static void lock(struct output_file *out)
{
    if (!out->is_locked)
        signal_buffer_lock(out->signal_buffer);
    out->is_locked = true;
}

static void unlock(struct output_file *out)
{
    if (out->is_locked) {
        out->is_locked = false;
        signal_buffer_unlock(out->signal_buffer, out->n_complete);
    }
}

/* Writes the first n bytes of the buffer. The buffer stays locked if these bytes end inside a
 * record. */
static bool send(struct output_file *out, size_t n, struct irrun_error *err)
{
    if (n == 0)
        return true;
    lock(out);
    bool is_sent = write_through(out, out->buffer, n, err), splits_record = n > out->n_complete;
    out->n_buffered = is_sent ? out->n_buffered - n : 0;
    out->n_complete = is_sent && !splits_record ? out->n_complete - n : 0;
    memmove(out->buffer, out->buffer + n, out->n_buffered);
    if (!splits_record)
        unlock(out);
    return is_sent;
}

bool output_file_flush(struct output_file *out, struct irrun_error *err)
{
    return send(out, out->n_buffered, err);
}

void output_file_end_record(struct output_file *out)
{
    out->n_complete = out->n_buffered;
    signal_buffer_set_complete(out->signal_buffer, out->n_complete);
    unlock(out);
}

bool output_file_sync(struct output_file *out, struct irrun_error *err)
{
    if (!output_file_flush(out, err))
        return false;
    return !out->is_synced || out->is_direct || fsync(out->fd) == 0 || fail_write(out, errno, err);
}

/* Makes room in the buffer. Writes complete records only, if possible, so that the last record can
 * be completed in the buffer. */
static bool make_room(struct output_file *out, size_t size_bytes, struct irrun_error *err)
{
    return send(out, out->n_complete, err) &&
           (size_bytes <= BUFFER_BYTES - out->n_buffered || output_file_flush(out, err));
}

bool output_file_write(struct output_file *out, const void *data, size_t size_bytes,
                       struct irrun_error *err)
{
    if (size_bytes > BUFFER_BYTES - out->n_buffered && !make_room(out, size_bytes, err))
        return false;
    out->offset += size_bytes;
    if (size_bytes > BUFFER_BYTES) {
        lock(out);
        return write_through(out, data, size_bytes, err);
    }
    if (size_bytes != 0)
        memcpy(out->buffer + out->n_buffered, data, size_bytes);
    out->n_buffered += size_bytes;
    return true;
}

bool output_file_patch(struct output_file *out, uint64_t offset, const void *data,
                       size_t size_bytes, struct irrun_error *err)
{
    return output_file_flush(out, err) &&
           (file_write_at(out->fd, offset, data, size_bytes) || fail_write(out, errno, err));
}

/* ---- Finishing --------------------------------------------------------------------------------*/

static void release(struct output_file *out)
{
    out->n_complete = 0;
    unlock(out);
    signal_buffer_close(out->signal_buffer);
    temporary_forget(out->slot);
    if (out->fd >= 0 && !out->is_standard_output)
        close(out->fd);
    free(out->path);
    free(out->target);
    free(out->temporary);
    free(out->buffer);
    *out = (struct output_file){.fd = -1, .slot = NO_TEMPORARY};
}

void output_file_abort(struct output_file *out)
{
    struct irrun_error ignored = {.code = IRRUN_OK};
    if (out->path == NULL && out->buffer == NULL)
        return;
    if (out->fd >= 0 && out->is_direct)
        send(out, out->n_complete, &ignored);
    if (out->temporary && !out->is_partial)
        unlink(out->temporary);
    release(out);
}

/* Closes a duplicate of the descriptor, to get the error that close reports. Standard output must
 * stay open, and a file stays locked until it is renamed. A failure of dup is ignored, because it
 * is not an error of the file. */
static bool close_checked(struct output_file *out, struct irrun_error *err)
{
    int fd = dup(out->fd);
    /* Linux closes the descriptor even if close was interrupted. */
    return fd < 0 || close(fd) == 0 || errno == EINTR || fail_write(out, errno, err);
}

static bool sync_directory(const struct output_file *out, struct irrun_error *err)
{
    char *directory = file_directory(out->target);
    if (directory == NULL)
        return fail_memory(err, strlen(out->target) + 1);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    if (fd < 0)
        return fail_write(out, errno, err);
    /* Not every file system can sync a directory. */
    bool is_synced = fsync(fd) == 0 || errno == EINVAL;
    int reason = errno;
    close(fd);
    return is_synced || fail_write(out, reason, err);
}

static bool finish(struct output_file *out, struct irrun_error *err)
{
    if (!output_file_sync(out, err) || !close_checked(out, err))
        return false;
    if (out->is_direct)
        return true;
    if (rename(out->temporary, out->target) != 0)
        return fail_create(out->path, errno, err);
    free(out->temporary);
    out->temporary = NULL;
    return !out->is_synced || sync_directory(out, err);
}

bool output_file_finish(struct output_file *out, struct irrun_error *err)
{
    bool is_finished = finish(out, err);
    if (is_finished)
        release(out);
    else
        output_file_abort(out);
    return is_finished;
}
