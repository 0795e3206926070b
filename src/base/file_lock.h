/* Advisory locks on open files, between processes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_FILE_LOCK_H
#define IRRUN_BASE_FILE_LOCK_H

/* Locks the file until its descriptor, and every copy of it, is closed. Returns 0, EWOULDBLOCK if
 * it is locked already, or another errno if the file system has no locks. */
int file_lock(int fd);

/* Returns the id of the process that holds the lock, or 0 if it is unknown. */
long file_lock_holder(int fd);

#endif
