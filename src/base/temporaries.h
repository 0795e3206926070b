/* Creates, locks and removes temporary files. A complete file is renamed to its target. A signal
 * handler removes the incomplete ones.
 *
 * The name of a temporary file depends only on the name of its target. If two processes write the
 * same target, both use the same temporary file. The first one locks it, and the second one fails.
 * A file that a killed process has left behind is not locked, and the next process that writes the
 * target removes it. If the file system does not support locks, each process uses its own name.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_TEMPORARIES_H
#define IRRUN_BASE_TEMPORARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_TEMPORARY SIZE_MAX

/* Creates and locks a file in the directory of `target`. Returns its descriptor, or -1 with errno
 * set. If another process is writing the target, errno is EWOULDBLOCK, and *holder is the id of
 * that process, or 0 if it is unknown. The caller frees *name, and calls temporary_forget(*slot)
 * before it closes the descriptor. */
int temporary_create(const char *target, char **name, size_t *slot, long *holder);
void temporary_forget(size_t slot); /* accepts NO_TEMPORARY */

/* Locks the target for a later temporary_create. Fails like that function, but returns true without
 * a lock if the table of temporary files is full or the file system does not support locks. */
bool temporary_reserve(const char *target, long *holder);

/* Removes the locks of reserved targets for which temporary_create was not called. */
void temporaries_release(void);

/* Creates a file without a name in the directory of `target`. Returns its descriptor, or -1 with
 * errno set. The file is removed when the descriptor is closed. */
int temporary_create_unnamed(const char *target);

/* Removes all temporary files. Async-signal-safe. */
void temporaries_remove_all(void);

#endif
