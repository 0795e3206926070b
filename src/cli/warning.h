/* What irrun says on standard error: the one error, warnings, what --verbose tells, the progress
 * line.
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
    bool has_line; /* a progress line stands where the next text would go */
};

void warnings_init(struct warnings *warnings);
void warnings_free(struct warnings *warnings);

/* "irrun: warning: …", unless -q was given; a text only the first time. For any thread. */
void warn(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

/* "irrun: …", if -v was given. For any thread. */
void tell(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

/* The error that ends the run. */
void warning_show_error(const struct options *options, const struct irrun_error *err);

/* Standard error is a terminal, and neither NO_COLOR nor TERM=dumb ask for plainness. */
bool warning_is_terminal(void);

/* Replaces the progress line; NULL takes it away. Plain lines stay. */
void warning_show_progress(const struct options *options, const char *text, bool is_plain);

#endif
