/* Runs irrun in a directory of its own, with the faults of a plan, and says what is wrong with how
 * it ended and what it left.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_FAULT_RUN_H
#define IRRUN_TESTS_FAULT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault_plan.h"

/* Runs in a directory where root is the project, in/ holds inputs and out/ is empty. */
struct command {
    const char *name;
    const char *arguments; /* with blanks between them */
    const char *input;     /* a file that comes through a pipe as standard input; NULL: empty */
    bool resumes;          /* what it leaves, when it fails, the same command uses up */
};

/* A file as bytes. */
struct bytes {
    char *name; /* in out/; "" is standard output */
    unsigned char *data;
    size_t n;
};

#define MAX_FILES 16

/* What a run without faults makes of the command. */
struct reference {
    struct bytes files[MAX_FILES];
    size_t n_files;
    uint64_t n_calls;
};

/* Makes the directory and its inputs; ends the program with a message if it cannot. */
void fault_run_open(const char *irrun, const char *library);
void fault_run_close(void);

/* A run without faults; counts the calls of that kind. The files are the caller's to free. */
void fault_run_reference(const struct command *command, enum fault_kind kind,
                         struct reference *reference);
void reference_free(struct reference *reference);

/* A run in which calls first … last fail; *n_failed of them did. statuses: with which it may then
 * end, up to a 0. NULL if all is well, or else what is wrong, which is valid until the next run. */
const char *fault_run(const struct command *command, enum fault_kind kind, uint64_t first,
                      uint64_t last, const int *statuses, const struct reference *reference,
                      uint64_t *n_failed);

#endif
