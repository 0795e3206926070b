/* A buffer in memory, whose bytes move to an unnamed file when it is full.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/output_file.h"

static bool fail_spool(const struct spool *spool, int reason, struct irrun_error *err)
{
    return fail_errno(err, IRRUN_IO, spool->beside, "cannot use a temporary file beside it",
                      reason);
}

static bool write_disk(struct spool *spool, const void *data, size_t size_bytes,
                       struct irrun_error *err)
{
    if (!spool->is_on_disk && !output_file_open_unnamed(spool->beside, &spool->fd, err))
        return false;
    spool->is_on_disk = true;
    if (!file_write_at(spool->fd, spool->n_on_disk, data, size_bytes))
        return fail_spool(spool, errno, err);
    spool->n_on_disk += size_bytes;
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

bool spool_read(struct spool *spool, spool_visit_fn *visit, void *context, struct irrun_error *err)
{
    unsigned char block[16 * 1024];
    size_t n;
    for (uint64_t offset = 0; offset < spool->n_on_disk; offset += n) {
        bool is_read = file_read_at(spool->fd, offset, block, sizeof block, &n);
        if (!is_read || n == 0)
            return fail_spool(spool, is_read ? EIO : errno, err);
        if (!visit(context, block, n, err))
            return false;
    }
    return spool->n_memory == 0 || visit(context, spool->memory, spool->n_memory, err);
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
