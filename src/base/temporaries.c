/* Names for temporaries, and a table of them which a signal handler may read at any moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/temporaries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEMPORARIES 4096

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_READY };

/* The paths stay allocated, to be used again: the handler never meets freed memory. */
static struct {
    atomic_int state;
    char *path; /* [PATH_MAX] */
} temporaries[MAX_TEMPORARIES];

static size_t remember(const char *path)
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
        atomic_store(&temporaries[i].state, SLOT_READY);
        return i;
    }
    return NO_TEMPORARY;
}

void temporary_forget(size_t slot)
{
    if (slot != NO_TEMPORARY)
        atomic_store(&temporaries[slot].state, SLOT_FREE);
}

/* "FOLDER/.irrun-PID-N" beside `target`; malloc'ed. */
static char *temporary_name(const char *target)
{
    static atomic_uint n_names;
    const char *slash = strrchr(target, '/');
    int folder_length = slash ? (int)(slash - target) + 1 : 0;
    char *name = NULL;
    if (asprintf(&name, "%.*s.irrun-%ld-%u", folder_length, target, (long)getpid(),
                 atomic_fetch_add(&n_names, 1)) < 0)
        return NULL;
    return name;
}

int temporary_create(const char *target, char **name, size_t *slot)
{
    for (;;) {
        *name = temporary_name(target);
        if (*name == NULL) {
            errno = ENOMEM;
            return -1;
        }
        *slot = remember(*name);
        int fd = open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        int reason = errno;
        temporary_forget(*slot);
        *slot = NO_TEMPORARY;
        free(*name);
        *name = NULL;
        errno = reason;
        if (reason != EEXIST)
            return -1;
    }
}

void temporaries_remove_all(void)
{
    for (size_t i = 0; i < MAX_TEMPORARIES; i++)
        if (atomic_load(&temporaries[i].state) == SLOT_READY)
            unlink(temporaries[i].path);
}
