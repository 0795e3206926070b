/* Locks open files, so that no two processes write the same one. The locks are advisory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_FILE_LOCK_H
#define IRRUN_BASE_FILE_LOCK_H

/* Locks the file until the descriptor and all its duplicates are closed. Returns 0 on success,
 * EWOULDBLOCK if the file is locked already, or a different errno if the file system does not
 * support locks. */
int file_lock(int fd);

/* Returns the id of the process that has locked the file, or 0 if it is unknown. */
long file_lock_holder(int fd);

#endif
