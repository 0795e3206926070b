/* Temporary files: their names, a lock while they are written, and a table of all of them for the
 * signal handler that removes them.
 *
 * The name depends on the target's name only. If two processes write one target, they use the same
 * temporary file, and the second is refused. A file that a killed process left has no lock: the
 * next process that writes the target removes it. If the file system has no locks, every process
 * uses a name of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_TEMPORARIES_H
#define IRRUN_BASE_TEMPORARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_TEMPORARY SIZE_MAX

/* Creates and locks a file in the directory of `target`. Returns its descriptor, or -1 with errno
 * set. EWOULDBLOCK: another process is writing the target; *holder is its id, or 0 if unknown. The
 * caller frees *name, and calls temporary_forget(*slot) before it closes the descriptor. */
int temporary_create(const char *target, char **name, size_t *slot, long *holder);
void temporary_forget(size_t slot); /* NO_TEMPORARY is allowed */

/* Locks the target; temporary_create takes over the lock later. Fails like temporary_create. */
bool temporary_reserve(const char *target, long *holder);

/* Unlocks the reserved targets that temporary_create has not taken over. */
void temporaries_release(void);

/* A file without a name in the directory of `target`; a descriptor, or -1 with errno set. */
int temporary_create_unnamed(const char *target);

/* Removes all temporary files. Async-signal-safe. */
void temporaries_remove_all(void);

#endif
