/* A list of mapped files that a signal handler may read at any time: items are reused, never freed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mapping.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapping {
    struct mapping *next; /* set before the item is added to the list */
    atomic_bool is_taken;
    _Atomic uintptr_t begin, end; /* begin is UINTPTR_MAX if unused */
    int fd;
    char *path;
};

static _Atomic(struct mapping *) mappings;

static struct mapping *reuse_item(void)
{
    for (struct mapping *item = atomic_load(&mappings); item; item = item->next)
        if (!atomic_exchange(&item->is_taken, true))
            return item;
    return NULL;
}

static struct mapping *new_item(void)
{
    struct mapping *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    atomic_init(&item->is_taken, true);
    atomic_init(&item->begin, UINTPTR_MAX);
    item->next = atomic_load(&mappings);
    while (!atomic_compare_exchange_weak(&mappings, &item->next, item))
        ;
    return item;
}

struct mapping *mapping_add(const void *data, size_t size_bytes, int fd, const char *path,
                            struct irrun_error *err)
{
    char *copy = strdup(path);
    struct mapping *item = copy ? reuse_item() : NULL;
    if (copy && !item)
        item = new_item();
    if (!item) {
        free(copy);
        fail_memory(err, sizeof *item + strlen(path) + 1);
        return NULL;
    }
    item->fd = fd;
    item->path = copy;
    atomic_store(&item->end, (uintptr_t)data + size_bytes);
    atomic_store(&item->begin, (uintptr_t)data);
    return item;
}

void mapping_remove(struct mapping *mapping)
{
    atomic_store(&mapping->begin, UINTPTR_MAX);
    close(mapping->fd);
    free(mapping->path);
    mapping->path = NULL;
    atomic_store(&mapping->is_taken, false);
}

int mapping_fd(const struct mapping *mapping)
{
    return mapping->fd;
}

const char *mapping_path(const struct mapping *mapping)
{
    return mapping->path;
}

const char *mapping_find(const void *address, bool *is_truncated)
{
    for (struct mapping *item = atomic_load(&mappings); item; item = item->next) {
        uintptr_t begin = atomic_load(&item->begin), end = atomic_load(&item->end);
        struct stat status;
        if ((uintptr_t)address < begin || (uintptr_t)address >= end ||
            atomic_load(&item->begin) != begin)
            continue;
        *is_truncated = fstat(item->fd, &status) == 0 && (uintmax_t)status.st_size < end - begin;
        return item->path;
    }
    return NULL;
}
