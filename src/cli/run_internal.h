/* What the files of a run share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_INTERNAL_H
#define IRRUN_CLI_RUN_INTERNAL_H

#include <pthread.h>

#include "cli/failures.h"
#include "cli/run_paths.h"
#include "cli/worker.h"

struct run {
    const struct options *options;
    struct irrun_model *model, *reference; /* reference: of --diff; NULL: none */
    struct model_identity model_identity;  /* empty where nothing asks for it */
    struct sequences *sequences;
    struct collector *collector;
    struct run_paths *paths;
    struct event_trace *trace; /* of --trace; NULL: none */
    struct worker *workers;
    const struct progress_counter **counters; /* of the workers */
    size_t n_workers;
    bool is_dry; /* -n 0 */
    struct reader_wait wait;

    pthread_mutex_t lock;      /* of all below, of `sequences` and of `paths` */
    bool is_over;              /* no further sequence begins */
    struct irrun_error *error; /* of the first sequence, in their order, that failed */
    uint64_t error_index;
    uint64_t n_sequences; /* so far, with those that … */
    struct failures failures;
};

/* Prints what --stats and --profile ask for, and writes the report, if the run has come to its end
 * or what of them is there otherwise; err is what the run ended with. */
bool run_show(struct run *run, const struct stats_clocks *start, double load_s,
              struct irrun_error *err);

#endif
