/* A line on the terminal that says how far the run is. A thread of its own writes it: an iteration
 * pays for one store into a counter.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_PROGRESS_H
#define IRRUN_CLI_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>

#include "cli/options.h"

/* What one worker has done; only that worker writes it. */
struct progress_counter {
    _Atomic uint64_t n_iterations, n_sequences;
    _Atomic uint64_t n_expected; /* iterations of the present sequence; 0: not known */
};

struct progress {
    const struct options *options;
    const struct progress_counter *const *counters;
    size_t n_counters;
    bool is_running, is_plain, is_many;
    double start_s;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool must_stop;
};

/* Starts the thread if a line is wanted at all: by --progress, the terminal, NO_COLOR and TERM. The
 * counters are borrowed until progress_stop. If no thread can be started there is no line. */
void progress_start(struct progress *progress, const struct options *options,
                    const struct progress_counter *const *counters, size_t n_counters,
                    bool is_many);

/* Takes the line away; of several sequences a summary stays. All zero is allowed. */
void progress_stop(struct progress *progress);

#endif
