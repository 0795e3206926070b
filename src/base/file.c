/* Read-only mappings of whole files, and real paths.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool map_descriptor(struct file_map *map, int fd, const char *path, struct irrun_error *err)
{
    struct place place = {path, 0, 0};
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail_at(err, IRRUN_NO_INPUT, place, "cannot be examined: %s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail_at(err, IRRUN_NO_INPUT, place, "is not a regular file");
    if (status.st_size == 0)
        return true;
    if ((uintmax_t)status.st_size > SIZE_MAX)
        return fail_at(err, IRRUN_SYSTEM, place, "is too large for this machine's addresses");

    size_t size_bytes = (size_t)status.st_size;
    void *data = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return fail_at(err, IRRUN_SYSTEM, place, "cannot be mapped: %s", strerror(errno));
    map->data = data;
    map->size_bytes = size_bytes;
    return true;
}

bool file_map_open(struct file_map *map, const char *path, struct irrun_error *err)
{
    *map = (struct file_map){NULL, 0};
    /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_at(err, IRRUN_NO_INPUT, (struct place){path, 0, 0}, "cannot be opened: %s",
                       strerror(errno));
    bool is_mapped = map_descriptor(map, fd, path, err);
    close(fd);
    return is_mapped;
}

/* A call costs as much as a few pages. */
#define FORGET_FROM_BYTES ((size_t)64 << 10)

void file_map_forget(const struct file_map *map, const void *data, size_t size_bytes)
{
    if (!map || !map->data || size_bytes < FORGET_FROM_BYTES || size_bytes > map->size_bytes)
        return;
    uintptr_t base = (uintptr_t)map->data, begin = (uintptr_t)data;
    if (begin - base > map->size_bytes - size_bytes)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (begin + page - 1) / page * page;
    uintptr_t end = (begin + size_bytes) / page * page;
    if (end > first)
        madvise((void *)first, end - first, MADV_DONTNEED);
}

void file_map_close(struct file_map *map)
{
    if (map->data)
        munmap((void *)(uintptr_t)map->data, map->size_bytes);
    *map = (struct file_map){NULL, 0};
}

char *file_real_path(const char *path)
{
    char *real = realpath(path, NULL);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (real || errno != ENOENT)
        return real ? real : strdup(path);
    char *folder = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
    char *real_folder = folder ? realpath(folder, NULL) : NULL;
    const char *gap = real_folder && strcmp(real_folder, "/") == 0 ? "" : "/";
    if (folder && real_folder == NULL)
        real = strdup(path);
    else if (folder && asprintf(&real, "%s%s%s", real_folder, gap, name) < 0)
        real = NULL;
    free(real_folder);
    free(folder);
    return real;
}
