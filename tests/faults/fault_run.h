/* Runs irrun in a new directory under a plan of faults, and checks its exit status, messages and
 * files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_FAULT_RUN_H
#define IRRUN_TESTS_FAULT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault_plan.h"

/* A command. Its directory has root/, a link to the project, in/ with inputs, and an empty out/. */
struct command {
    const char *name;
    const char *arguments; /* separated by blanks */
    const char *input;     /* a file that is piped to standard input; NULL: empty */
    bool resumes;          /* after a failure, the same command resumes from its checkpoint */
};

/* The bytes of a file. */
struct bytes {
    char *name; /* in out/; "" is standard output */
    unsigned char *data;
    size_t n;
};

#define MAX_FILES 16

/* The results of the command without faults. */
struct reference {
    struct bytes files[MAX_FILES];
    size_t n_files;
    uint64_t n_calls;
};

/* Creates the directory and its inputs; if that fails, ends the program with a message. */
void fault_run_open(const char *irrun, const char *library);
void fault_run_close(void);

/* Runs the command without faults and counts the calls of this kind. The caller frees the files. */
void fault_run_reference(const struct command *command, enum fault_kind kind,
                         struct reference *reference);
void reference_free(struct reference *reference);

/* Runs the command; calls first … last fail. Sets *n_failed to how many of them were made.
 * statuses: the allowed exit statuses, up to a 0. Returns NULL if everything is right, otherwise a
 * description of the problem, which is valid until the next run. */
const char *fault_run(const struct command *command, enum fault_kind kind, uint64_t first,
                      uint64_t last, const int *statuses, const struct reference *reference,
                      uint64_t *n_failed);

#endif
