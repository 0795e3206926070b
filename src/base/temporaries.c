/* Names, creates and locks temporary files, and keeps them in a table that a signal handler may
 * read at any time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/temporaries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/file_lock.h"

/* ---- The table ------------------------------------------------------------------------------- */

#define MAX_TEMPORARIES 4096

/* SLOT_RESERVED: the file is locked for a later temporary_create. */
enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_READY, SLOT_RESERVED };

/* Paths stay allocated and are reused, so that the handler never reads freed memory. */
static struct {
    atomic_int state;
    char *path; /* [PATH_MAX] */
    int fd;     /* open and locked while the slot is in use */
} temporaries[MAX_TEMPORARIES];

static atomic_bool is_ending; /* temporaries_remove_all has begun */

/* Returns whether `path` still names the open file `fd`. If not, errno is 0 (`path` names a
 * different file) or ENOENT; any other errno means that it is not known. */
static bool is_file_at(const char *path, int fd)
{
    struct stat there, here;
    errno = 0;
    return lstat(path, &there) == 0 && fstat(fd, &here) == 0 && there.st_dev == here.st_dev &&
           there.st_ino == here.st_ino;
}

static size_t add_to_table(const char *path, int fd, enum slot_state state)
{
    size_t length = strlen(path);
    if (length >= PATH_MAX)
        return NO_TEMPORARY;
    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&temporaries[i].state, &expected, SLOT_TAKEN))
            continue;
        if (temporaries[i].path == NULL)
            temporaries[i].path = malloc(PATH_MAX);
        if (temporaries[i].path == NULL) {
            atomic_store(&temporaries[i].state, SLOT_FREE);
            return NO_TEMPORARY;
        }
        memcpy(temporaries[i].path, path, length + 1);
        temporaries[i].fd = fd;
        atomic_store(&temporaries[i].state, (int)state);
        return i;
    }
    return NO_TEMPORARY;
}

void temporary_forget(size_t slot)
{
    if (slot != NO_TEMPORARY)
        atomic_store(&temporaries[slot].state, SLOT_FREE);
}

void temporaries_remove_all(void)
{
    atomic_store(&is_ending, true);
    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        int state = atomic_load(&temporaries[i].state);
        if ((state == SLOT_READY || state == SLOT_RESERVED) &&
            is_file_at(temporaries[i].path, temporaries[i].fd))
            unlink(temporaries[i].path);
    }
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Returns the path "DIRECTORY/.irrun-DIGEST", with "-PID-N" appended if is_unique. DIRECTORY is
 * that of `target`. DIGEST is computed from the name of `target`, which may be too long to extend.
 * The caller frees the result. If memory runs out, returns NULL with errno set. */
static char *temporary_name(const char *target, bool is_unique)
{
    static atomic_uint n_names;
    const char *slash = strrchr(target, '/'), *base = slash ? slash + 1 : target;
    unsigned long long digest = digest_update(DIGEST_SEED, base, strlen(base)).a;
    char suffix[64] = "", *name = NULL;
    if (is_unique)
        snprintf(suffix, sizeof suffix, "-%ld-%u", (long)getpid(), atomic_fetch_add(&n_names, 1));
    if (asprintf(&name, "%.*s.irrun-%016llx%s", (int)(base - target), target, digest, suffix) >= 0)
        return name;
    errno = ENOMEM;
    return NULL;
}

/* Frees a name, and preserves errno. */
static void free_name(char **name)
{
    int reason = errno;
    free(*name);
    *name = NULL;
    errno = reason;
}

enum attempt {
    CREATED,
    FAILED,    /* errno says why */
    IS_LOCKED, /* by another process */
    NO_LOCKS,  /* the file system does not support locks */
    TRY_AGAIN
};

/* After is_file_at has returned false, returns whether the reason is that the file is no longer at
 * its path. */
static bool is_missing(void)
{
    return errno == 0 || errno == ENOENT;
}

/* Removes the file if it is not locked: a process that was killed has left it behind. */
static enum attempt remove_abandoned(const char *name, long *holder)
{
    const int how = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = open(name, O_RDWR | how);
    if (fd < 0 && errno == EACCES)
        fd = open(name, O_RDONLY | how);
    if (fd < 0)
        return errno == ENOENT ? TRY_AGAIN : NO_LOCKS;
    int reason = file_lock(fd);
    if (reason == EWOULDBLOCK)
        *holder = file_lock_holder(fd);
    bool is_gone = reason == 0 && (is_file_at(name, fd) ? unlink(name) == 0 : is_missing());
    close(fd);
    return reason == EWOULDBLOCK ? IS_LOCKED : is_gone ? TRY_AGAIN : NO_LOCKS;
}

static enum attempt try_to_create(const char *name, int *fd, long *holder)
{
    *fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd < 0)
        return errno == EEXIST ? remove_abandoned(name, holder) : FAILED;
    int reason = file_lock(*fd);
    /* Another process may have removed the file as abandoned before it was locked. */
    if (reason == 0 && is_file_at(name, *fd))
        return CREATED;
    enum attempt attempt = reason == EWOULDBLOCK ? IS_LOCKED
                           : reason != 0         ? NO_LOCKS
                           : is_missing()        ? TRY_AGAIN
                                                 : FAILED;
    reason = errno;
    if (attempt == IS_LOCKED)
        *holder = file_lock_holder(*fd);
    if (attempt == NO_LOCKS || attempt == FAILED)
        unlink(name);
    close(*fd);
    errno = reason;
    return attempt;
}

static enum attempt create_locked(const char *name, int *fd, long *holder)
{
    enum attempt attempt;
    unsigned n_unknown = 0; /* attempts that found the file locked by an unknown process */
    do
        attempt = try_to_create(name, fd, holder);
    while (attempt == TRY_AGAIN || (attempt == IS_LOCKED && *holder == 0 && n_unknown++ < 3));
    return attempt;
}

/* Creates a file with a name that no other process uses, for file systems without locks. */
static enum attempt create_unique(const char *target, mode_t mode, char **name, int *fd)
{
    do {
        free(*name);
        *name = temporary_name(target, true);
        *fd = *name ? open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode) : -1;
    } while (*name && *fd < 0 && errno == EEXIST);
    return *fd >= 0 ? CREATED : FAILED;
}

/* ---- Creating -------------------------------------------------------------------------------- */

/* Blocks all signals in this thread: the handler would not remove a file that is not in the table
 * yet. */
static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

/* Creates the file *name. If the file system does not support locks, creates a file with a unique
 * name and sets *name to it. Blocks signals in this thread until the file is in the table. If the
 * handler has already run in a different thread, removes the file. */
static int create(const char *target, enum slot_state state, char **name, size_t *slot,
                  long *holder)
{
    sigset_t before;
    int fd;
    block_signals(&before);
    enum attempt attempt = create_locked(*name, &fd, holder);
    if (attempt == NO_LOCKS && state == SLOT_READY)
        attempt = create_unique(target, 0666, name, &fd);
    int reason = errno;
    *slot = attempt == CREATED ? add_to_table(*name, fd, state) : NO_TEMPORARY;
    if (attempt == CREATED && atomic_load(&is_ending))
        unlink(*name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = attempt == IS_LOCKED ? EWOULDBLOCK : attempt == NO_LOCKS ? ENOLCK : reason;
    return attempt == CREATED ? fd : -1;
}

/* Marks the file that this process has reserved under this name as in use, and returns its
 * descriptor; returns -1 if there is none. */
static int take_over(const char *name, size_t *slot)
{
    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        int expected = SLOT_RESERVED;
        if (atomic_load(&temporaries[i].state) != SLOT_RESERVED ||
            strcmp(temporaries[i].path, name) != 0 ||
            !atomic_compare_exchange_strong(&temporaries[i].state, &expected, SLOT_READY))
            continue;
        *slot = i;
        return temporaries[i].fd;
    }
    return -1;
}

int temporary_create(const char *target, char **name, size_t *slot, long *holder)
{
    *slot = NO_TEMPORARY;
    *holder = 0;
    *name = temporary_name(target, false);
    if (*name == NULL)
        return -1;
    int fd = take_over(*name, slot);
    if (fd < 0)
        fd = create(target, SLOT_READY, name, slot, holder);
    if (fd < 0)
        free_name(name);
    return fd;
}

bool temporary_reserve(const char *target, long *holder)
{
    size_t slot;
    *holder = 0;
    char *name = temporary_name(target, false);
    if (name == NULL)
        return false;
    int fd = create(target, SLOT_RESERVED, &name, &slot, holder);
    if (fd >= 0 && slot == NO_TEMPORARY) {
        unlink(name);
        close(fd);
    }
    free_name(&name);
    return fd >= 0 || errno == ENOLCK;
}

void temporaries_release(void)
{
    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        if (atomic_load(&temporaries[i].state) != SLOT_RESERVED)
            continue;
        int fd = temporaries[i].fd;
        unlink(temporaries[i].path);
        temporary_forget(i);
        close(fd);
    }
}

int temporary_create_unnamed(const char *target)
{
    char *name = file_directory(target);
    int fd = name ? open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    sigset_t before;
    block_signals(&before);
    if (fd < 0 && name && create_unique(target, 0600, &name, &fd) == CREATED)
        unlink(name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free_name(&name);
    return fd;
}
