/* Lines on standard error that are no errors: warnings, and what --verbose tells.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_WARNING_H
#define IRRUN_CLI_WARNING_H

#include <pthread.h>

#include "cli/options.h"

/* The warnings of this run, each once. */
struct warnings {
    pthread_mutex_t lock;
    char **texts; /* [n], malloc'ed */
    size_t n, capacity;
};

void warnings_init(struct warnings *warnings);
void warnings_free(struct warnings *warnings);

/* "irrun: warning: …", unless -q was given; a text only the first time. For any thread. */
void warn(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

/* "irrun: …", if -v was given. */
void tell(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
