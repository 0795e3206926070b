/* Prints to standard error: the error, warnings, messages of --verbose, the progress line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_WARNING_H
#define IRRUN_CLI_WARNING_H

#include <pthread.h>

#include "cli/options.h"

/* The first thousand different warnings of this run. */
struct warnings {
    pthread_mutex_t lock;
    char **texts; /* [n], malloc'ed */
    size_t n, capacity;
    bool has_line; /* a progress line is on the screen */
};

void warnings_init(struct warnings *warnings);
void warnings_free(struct warnings *warnings);

/* Prints "irrun: warning: …" and stores the text, unless it is stored already. With -q, only stores
 * the text. Thread-safe. */
void warn(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

/* Prints "irrun: …", if -v was given. Thread-safe. */
void inform(const struct options *options, const char *format, ...) PRINTF_LIKE(2, 3);

/* Prints the error that ends the run. */
void warning_show_error(const struct options *options, const struct irrun_error *err);

/* Returns whether standard error is a terminal, and neither NO_COLOR nor TERM=dumb is set. */
bool warning_is_terminal(void);

/* Replaces the progress line; NULL removes it. Plain lines stay. */
void warning_show_progress(const struct options *options, const char *text, bool is_plain);

#endif
