/* Which calls of a program under test fail, and how many calls it has made. The preloaded library
 * and the test share this struct in a mapped file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_FAULT_PLAN_H
#define IRRUN_TESTS_FAULT_PLAN_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable with the path of that file. */
#define FAULT_VARIABLE "IRRUN_TEST_FAULTS"

enum fault_kind {
    FAULT_NONE,
    FAULT_MEMORY,    /* malloc and similar functions, mmap, pthread_create */
    FAULT_READ,      /* read, pread: EIO */
    FAULT_OPEN,      /* open, fopen: EMFILE */
    FAULT_WRITE,     /* write, pwrite, except to standard error: ENOSPC */
    FAULT_CLOSE,     /* close, fclose: EIO, and the descriptor is closed */
    FAULT_FILE,      /* rename, fsync, ftruncate, lseek, stat, fstat, lstat, poll: EIO */
    FAULT_SHORT,     /* read, pread, write, pwrite: half of the bytes; irrun must succeed */
    FAULT_INTERRUPT, /* the same calls and poll: EINTR; irrun must succeed */
};

/* Zeroed: every call succeeds. */
struct fault_plan {
    enum fault_kind kind;
    uint64_t first, last;      /* the calls of this kind that fail, from 1 */
    _Atomic uint64_t n_calls;  /* of this kind, since the library was loaded */
    _Atomic uint64_t n_failed; /* calls that have failed */
    _Atomic uint32_t is_attached;
};

#endif
