/* The state of a run, which run.c, run_check.c and run_show.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_INTERNAL_H
#define IRRUN_CLI_RUN_INTERNAL_H

#include <pthread.h>

#include "cli/run_paths.h"
#include "cli/worker.h"

struct run {
    const struct options *options;
    struct irrun_model *model, *reference; /* reference: of --diff, or NULL */
    struct model_identity model_identity;  /* empty if no option needs it */
    struct sequences *sequences;
    struct collector *collector;
    struct run_paths *paths;
    struct event_trace *trace; /* NULL: no --trace */
    struct worker *workers;
    const struct progress_counter **counters; /* [n_workers] */
    size_t n_workers;
    bool is_check; /* -n 0: runs no iteration */
    struct reader_wait wait;

    pthread_mutex_t lock;      /* for all members below, `sequences` and `paths` */
    bool is_over;              /* no further sequence is started */
    struct irrun_error *error; /* of the failed sequence with the lowest index, error_index */
    uint64_t error_index;
    uint64_t n_sequences;             /* started so far */
    uint64_t n_failed;                /* sequences that failed, with --keep-going */
    uint64_t first_failed;            /* lowest number of a failed sequence */
    enum irrun_error_code first_code; /* error of first_failed */
};

/* Fails with IRRUN_USAGE for options that cannot be used together, need other options or do not fit
 * the model. Warns about options without effect. In run_check.c. */
bool run_check(const struct irrun_model *model, const struct options *options,
               struct irrun_error *err);

/* Warns and returns true if --check cannot plan the model, because no inputs are given and
 * dimensions are dynamic. */
bool warn_unchecked(const struct irrun_model *model, const struct options *options);

/* Prints --stats and --profile, and writes the report. err: the result of the run; if it failed,
 * only the report is written. */
bool run_show(struct run *run, const struct stats_clocks *start, double load_s,
              struct irrun_error *err);

#endif
