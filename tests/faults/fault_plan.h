/* Which calls of a program under test fail, and how many it made: a file that both the library
 * preloaded into the program and the test that started it have mapped.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_FAULT_PLAN_H
#define IRRUN_TESTS_FAULT_PLAN_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable with the path of that file. */
#define FAULT_VARIABLE "IRRUN_TEST_FAULTS"

enum fault_kind {
    FAULT_NONE,
    FAULT_MEMORY, /* malloc and its kin, mmap, pthread_create */
    FAULT_READ    /* read, pread: EIO */
};

/* All zero = every call succeeds. */
struct fault_plan {
    enum fault_kind kind;
    uint64_t first, last;      /* the calls of that kind that fail, from 1 */
    _Atomic uint64_t n_calls;  /* of that kind, since the library was loaded */
    _Atomic uint64_t n_failed; /* of them */
    _Atomic uint32_t is_attached;
};

#endif
