/* A worker runs one sequence after another, with its own session and inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_WORKER_H
#define IRRUN_CLI_WORKER_H

#include "cli/checkpoint.h"
#include "cli/collect.h"
#include "cli/diff.h"
#include "cli/event_trace.h"
#include "cli/inputs.h"
#include "cli/key_states.h"
#include "cli/model_identity.h"
#include "cli/progress.h"
#include "cli/snapshot.h"
#include "cli/stats.h"
#include "cli/tap_file.h"

struct worker {
    const struct options *options;
    struct irrun_model *model;
    const struct model_identity *model_identity; /* for states and checkpoints; borrowed */
    struct irrun_session *session;
    struct inputs *inputs;
    struct all_variables variables;
    struct collector *collector; /* shared by all workers */
    struct backlog backlog;
    const struct sequence *sequence;    /* the current sequence */
    struct reader_wait wait;            /* before waiting: runs the batch, flushes outputs */
    const struct irrun_tensor **values; /* [all_outputs_count], after the last iteration */
    size_t n_values;                    /* outputs of the model */
    struct worker_batch *batch;         /* of --batch; NULL: none */
    struct worker_keys *keys;           /* of --key; NULL: none */
    struct snapshot snapshot;           /* during --warmup */
    struct snapshot loaded;             /* the last values read from --state-in */
    struct checkpoint checkpoint;       /* the one that was resumed, or the last one written */
    char *identity;                     /* for --checkpoint; NULL: none */
    struct stats stats;
    struct diff *diff;            /* NULL: no --diff */
    struct tap_file *tap_all;     /* of the last sequence with iterations; NULL: none */
    struct tap_file *tap_records; /* NULL: not open, or no --tap-records */
    struct event_track *track;    /* for --trace; NULL: none */
    struct progress_counter counter;
    struct pace pace;      /* of --pace, in this sequence */
    uint64_t available_ns; /* when --pace made the record available; 0: no --pace */
    uint64_t end_ns;       /* of --duration, on the clock of clock_now_ns; UINT64_MAX: none */
    size_t until_output;   /* of --until, an index of all_outputs_find */
    uint64_t record; /* index of the last record that was run; in a batch, of its first record */
    uint64_t reset_period; /* iterations between resets within a sequence; 0: none */
    bool is_warm;
};

/* Opens a worker. Borrows its arguments. A zeroed worker needs no worker_close. */
bool worker_open(struct worker *worker, struct irrun_model *model,
                 const struct model_identity *model_identity, const struct options *options,
                 struct collector *collector, struct irrun_error *err);
void worker_close(struct worker *worker);

/* Plans the session for its current inputs, and checks the command line against the shapes. */
bool worker_plan(struct worker *worker, struct irrun_error *err);

/* Opens the inputs of the sequence, and plans the session for them. */
bool worker_prepare(struct worker *worker, const struct sequence *sequence,
                    struct irrun_error *err);

/* Returns whether the time of --duration has passed. */
bool worker_time_is_over(const struct worker *worker);

/* Runs all records of the sequence, after worker_prepare. Returns false without an error if an
 * earlier sequence failed. */
bool worker_run(struct worker *worker, const struct sequence *sequence, struct irrun_error *err);

#endif
