/* Temporary files, and the names of all there are, for the signal handler that removes them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_TEMPORARIES_H
#define IRRUN_BASE_TEMPORARIES_H

#include <stddef.h>
#include <stdint.h>

#define NO_TEMPORARY SIZE_MAX

/* A new file that nobody else has, in the folder of `target`: its descriptor, or -1 with errno set.
 * *name (malloc'ed) and *slot are the caller's to free and to forget. It is noted before it is
 * there: a signal may come at any moment. */
int temporary_create(const char *target, char **name, size_t *slot);
void temporary_forget(size_t slot); /* NO_TEMPORARY is allowed */

/* Removes them all. Async-signal-safe. */
void temporaries_remove_all(void);

#endif
