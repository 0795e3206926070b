/* Temporary files: a name for each file that they become, a lock while they are written, and a
 * table of all there are, for the signal handler that removes them.
 *
 * The name follows from the target's. So two processes that write one target meet at its
 * temporary: the second is refused. What a killed process left there has no lock, and the next one
 * that writes the target removes it. Where a file system has no locks every process has a name of
 * its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_TEMPORARIES_H
#define IRRUN_BASE_TEMPORARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_TEMPORARY SIZE_MAX

/* A new file in the folder of `target`, locked: its descriptor, or -1 with errno set. EWOULDBLOCK:
 * somebody writes the target already, *holder is the process, or 0. *name (malloc'ed) and *slot are
 * the caller's to free and to forget, the latter before the descriptor is closed. */
int temporary_create(const char *target, char **name, size_t *slot, long *holder);
void temporary_forget(size_t slot); /* NO_TEMPORARY is allowed */

/* Locks the target for a temporary_create to come, which takes over the lock. Otherwise as
 * above. */
bool temporary_reserve(const char *target, long *holder);

/* Gives up what was reserved and not taken over. */
void temporaries_release(void);

/* A file without a name in the folder of `target`; a descriptor, or -1 with errno set. */
int temporary_create_unnamed(const char *target);

/* Removes them all. Async-signal-safe. */
void temporaries_remove_all(void);

#endif
