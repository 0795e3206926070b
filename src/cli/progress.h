/* Shows the progress line on the terminal. A separate thread writes the line, so an iteration only
 * updates a counter.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_PROGRESS_H
#define IRRUN_CLI_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>

#include "cli/options.h"

/* The progress of one worker; only that worker writes it. */
struct progress_counter {
    _Atomic uint64_t n_iterations, n_sequences;
    _Atomic uint64_t n_expected; /* iterations of the current sequence; 0: unknown */
};

struct progress {
    const struct options *options;
    const struct progress_counter *const *counters;
    size_t n_counters;
    bool is_running, is_plain;
    bool is_many; /* there are several sequences */
    double start_s;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool must_stop;
};

/* Starts the thread, unless --progress, the terminal, NO_COLOR or TERM disable the line. The
 * counters are borrowed until progress_stop. If the thread cannot be started, no line is shown. */
void progress_start(struct progress *progress, const struct options *options,
                    const struct progress_counter *const *counters, size_t n_counters,
                    bool is_many);

/* Removes the line. After several sequences, writes a summary. Accepts a zeroed struct. */
void progress_stop(struct progress *progress);

#endif
