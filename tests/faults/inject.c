/* A library to preload into a program under test. It makes the calls fail that the plan names, with
 * the errno that the system would set.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault_plan.h"

/* glibc's own functions. dlsym cannot find malloc here, because dlsym itself allocates. */
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

/* ---- Files ----------------------------------------------------------------------------------- */

/* Sets *function to the address of the C library's function of this name. */
static void find_next(void *function, const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    memcpy(function, &address, sizeof address);
}

/* Calls the C library's function of this name, of this type. */
#define NEXT(type, name, ...)                                                                      \
    do {                                                                                           \
        static type *next;                                                                         \
        if (!next)                                                                                 \
            find_next(&next, #name);                                                               \
        return next(__VA_ARGS__);                                                                  \
    } while (0)

static bool is_interrupted(void)
{
    return fails(FAULT_INTERRUPT, EINTR);
}

static size_t shortened(size_t n)
{
    return n > 1 && fails(FAULT_SHORT, 0) ? n / 2 : n;
}

ssize_t read(int fd, void *data, size_t n)
{
    if (fails(FAULT_READ, EIO) || is_interrupted())
        return -1;
    return syscall(SYS_read, fd, data, shortened(n));
}

ssize_t pread(int fd, void *data, size_t n, off_t offset)
{
    if (fails(FAULT_READ, EIO) || is_interrupted())
        return -1;
    return syscall(SYS_pread64, fd, data, shortened(n), offset);
}

/* Writes to standard error succeed, so that the test can check the messages. */
ssize_t write(int fd, const void *data, size_t n)
{
    if (fd != STDERR_FILENO && (fails(FAULT_WRITE, ENOSPC) || is_interrupted()))
        return -1;
    return syscall(SYS_write, fd, data, fd == STDERR_FILENO ? n : shortened(n));
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
    if (fails(FAULT_WRITE, ENOSPC) || is_interrupted())
        return -1;
    return syscall(SYS_pwrite64, fd, data, shortened(n), offset);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (fails(FAULT_OPEN, EMFILE))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

typedef FILE *fopen_fn(const char *path, const char *mode);
FILE *fopen(const char *path, const char *mode)
{
    if (fails(FAULT_OPEN, EMFILE))
        return NULL;
    NEXT(fopen_fn, fopen, path, mode);
}

int close(int fd)
{
    bool is_failed = fails(FAULT_CLOSE, EIO);
    int status = (int)syscall(SYS_close, fd);
    errno = is_failed ? EIO : errno;
    return is_failed ? -1 : status;
}

typedef int fclose_fn(FILE *file);
static int close_file(FILE *file)
{
    NEXT(fclose_fn, fclose, file);
}

int fclose(FILE *file)
{
    bool is_failed = fails(FAULT_CLOSE, EIO);
    int status = close_file(file);
    errno = is_failed ? EIO : errno;
    return is_failed ? EOF : status;
}

typedef int rename_fn(const char *from, const char *to);
int rename(const char *from, const char *to)
{
    if (fails(FAULT_FILE, EIO))
        return -1;
    NEXT(rename_fn, rename, from, to);
}

int fsync(int fd)
{
    return fails(FAULT_FILE, EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

typedef int ftruncate_fn(int fd, off_t size);
int ftruncate(int fd, off_t size)
{
    if (fails(FAULT_FILE, EIO))
        return -1;
    NEXT(ftruncate_fn, ftruncate, fd, size);
}

typedef off_t lseek_fn(int fd, off_t offset, int whence);
off_t lseek(int fd, off_t offset, int whence)
{
    if (fails(FAULT_FILE, EIO))
        return -1;
    NEXT(lseek_fn, lseek, fd, offset, whence);
}

typedef int stat_fn(const char *path, struct stat *status);
int stat(const char *path, struct stat *status)
{
    if (fails(FAULT_FILE, EIO))
        return -1;
    NEXT(stat_fn, stat, path, status);
}

int lstat(const char *path, struct stat *status)
{
    if (fails(FAULT_FILE, EIO))
        return -1;
    NEXT(stat_fn, lstat, path, status);
}

typedef int fstat_fn(int fd, struct stat *status);
int fstat(int fd, struct stat *status)
{
    if (fails(FAULT_FILE, EIO))
        return -1;
    NEXT(fstat_fn, fstat, fd, status);
}

typedef int poll_fn(struct pollfd *descriptors, nfds_t n, int timeout);
int poll(struct pollfd *descriptors, nfds_t n, int timeout)
{
    if (fails(FAULT_FILE, EIO) || is_interrupted())
        return -1;
    NEXT(poll_fn, poll, descriptors, n, timeout);
}
