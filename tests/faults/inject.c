/* Preloaded into a program under test: makes the calls fail that the plan names, as they would fail
 * by themselves.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault_plan.h"

/* glibc's own; dlsym would allocate while it looks for them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

typedef int create_thread_fn(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*start)(void *), void *context);

static struct fault_plan *plan; /* NULL before main: nothing fails */
static create_thread_fn *create_thread;

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv(FAULT_VARIABLE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *address = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create_thread, &address, sizeof create_thread);
    if (fd < 0)
        return;
    void *shared = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED)
        return;
    plan = shared;
    atomic_store(&plan->is_attached, 1);
}

static bool fails(enum fault_kind kind, int reason)
{
    if (!plan || plan->kind != kind)
        return false;
    uint64_t number = atomic_fetch_add(&plan->n_calls, 1) + 1;
    if (number < plan->first || number > plan->last)
        return false;
    atomic_fetch_add(&plan->n_failed, 1);
    errno = reason;
    return true;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void *malloc(size_t size)
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
    size_t whole;
    if (__builtin_mul_overflow(n, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, whole);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    int reason = errno;
    void *data = memalign(alignment, size);
    errno = reason;
    if (!data)
        return ENOMEM;
    *memory = data;
    return 0;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (fails(FAULT_MEMORY, ENOMEM))
        return MAP_FAILED;
    long mapped = syscall(SYS_mmap, address, size, protection, flags, fd, offset);
    void *data;
    memcpy(&data, &mapped, sizeof data);
    return data;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *context)
{
    return fails(FAULT_MEMORY, EAGAIN) ? EAGAIN : create_thread(thread, attributes, start, context);
}

/* ---- Reading --------------------------------------------------------------------------------- */

ssize_t read(int fd, void *data, size_t n)
{
    return fails(FAULT_READ, EIO) ? -1 : syscall(SYS_read, fd, data, n);
}

ssize_t pread(int fd, void *data, size_t n, off_t offset)
{
    return fails(FAULT_READ, EIO) ? -1 : syscall(SYS_pread64, fd, data, n, offset);
}
