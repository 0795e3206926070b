/* Stores bytes until a file is finished.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/output_file.h"

static bool fail_spool(const struct spool *spool, int reason, struct irrun_error *err)
{
    return fail_errno(err, IRRUN_IO, spool->beside, "cannot use a temporary file beside it",
                      reason);
}

static bool write_disk(struct spool *spool, const unsigned char *data, size_t size_bytes,
                       struct irrun_error *err)
{
    if (!spool->is_on_disk && !output_file_open_unnamed(spool->beside, &spool->fd, err))
        return false;
    spool->is_on_disk = true;
    while (size_bytes != 0) {
        ssize_t n = write(spool->fd, data, size_bytes);
        if (n < 0 && errno != EINTR)
            return fail_spool(spool, errno, err);
        if (n > 0) {
            data += n;
            size_bytes -= (size_t)n;
            spool->n_on_disk += (uint64_t)n;
        }
    }
    return true;
}

bool spool_write(struct spool *spool, const void *data, size_t size_bytes, struct irrun_error *err)
{
    if (size_bytes > SPOOL_MEMORY_BYTES - spool->n_memory) {
        if (!write_disk(spool, spool->memory, spool->n_memory, err))
            return false;
        spool->n_memory = 0;
    }
    if (size_bytes > SPOOL_MEMORY_BYTES)
        return write_disk(spool, data, size_bytes, err);
    if (size_bytes == 0)
        return true;
    if (!reserve_array((void **)&spool->memory, spool->n_memory + size_bytes, &spool->capacity, 1,
                       err))
        return false;
    memcpy(spool->memory + spool->n_memory, data, size_bytes);
    spool->n_memory += size_bytes;
    return true;
}

bool spool_read(struct spool *spool, spool_take_fn *take, void *context, struct irrun_error *err)
{
    unsigned char block[16 * 1024];
    uint64_t offset = 0;
    while (offset < spool->n_on_disk) {
        ssize_t n = pread(spool->fd, block, sizeof block, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_spool(spool, n < 0 ? errno : EIO, err);
        if (!take(context, block, (size_t)n, err))
            return false;
        offset += (uint64_t)n;
    }
    return spool->n_memory == 0 || take(context, spool->memory, spool->n_memory, err);
}

uint64_t spool_n_bytes(const struct spool *spool)
{
    return spool->n_on_disk + spool->n_memory;
}

void spool_free(struct spool *spool)
{
    if (spool->is_on_disk)
        close(spool->fd);
    free(spool->memory);
    *spool = (struct spool){.beside = spool->beside};
}
