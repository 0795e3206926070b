/* Locks on open files, by which processes keep out of each other's way.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_FILE_LOCK_H
#define IRRUN_BASE_FILE_LOCK_H

/* Locks the file until its descriptor, and every copy of it, is closed. Returns 0, EWOULDBLOCK if
 * it is locked already, or another errno where the file system has no locks. */
int file_lock(int fd);

/* The process that has locked the file; 0: not known. */
long file_lock_holder(int fd);

#endif
