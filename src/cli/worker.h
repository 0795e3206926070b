/* A worker: one session and its inputs. It runs one sequence after another.
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
    const struct sequence *sequence;    /* the current one */
    struct reader_wait wait;            /* flushes output if it is this worker's turn */
    const struct irrun_tensor **values; /* of all_outputs, after the last iteration */
    size_t n_values;                    /* those of the model */
    struct worker_batch *batch;         /* of --batch; NULL: none */
    struct worker_keys *keys;           /* of --key; NULL: none */
    struct snapshot snapshot;           /* during --warmup */
    struct snapshot loaded;             /* the last values read from --state-in */
    struct checkpoint checkpoint;       /* where this run began, or the last one written */
    char *identity;                     /* for --checkpoint; NULL: none */
    struct stats stats;
    struct diff *diff;            /* NULL: no --diff */
    struct tap_file *tap_all;     /* of the last sequence with iterations; NULL: none */
    struct tap_file *tap_records; /* NULL: not open, or no --tap-records */
    struct event_track *track;    /* for --trace; NULL: none */
    struct progress_counter counter;
    struct pace pace;      /* of --pace, in this sequence */
    uint64_t available_ns; /* when it made the record available; 0: without --pace */
    uint64_t end_ns;       /* of --duration, on the clock of clock_now_ns; UINT64_MAX: none */
    size_t until_output;   /* of --until, in all_outputs */
    uint64_t record;       /* of the last iteration; in a batch, the first */
    uint64_t reset_period; /* iterations between resets within a sequence; 0: none */
    bool is_warm;
};

/* Opens a worker. Borrows the collector and the identity. A zeroed worker needs no worker_close. */
bool worker_open(struct worker *worker, struct irrun_model *model,
                 const struct model_identity *model_identity, const struct options *options,
                 struct collector *collector, struct irrun_error *err);
void worker_close(struct worker *worker);

/* Plans for the inputs that are set, and checks the command line against the shapes. */
bool worker_plan(struct worker *worker, struct irrun_error *err);

/* Opens the inputs of the sequence and plans. */
bool worker_prepare(struct worker *worker, const struct sequence *sequence,
                    struct irrun_error *err);

/* Returns whether the time of --duration has passed. */
bool worker_time_is_over(const struct worker *worker);

/* Runs all records of the sequence, after worker_prepare. Returns false without an error if an
 * earlier sequence failed. */
bool worker_run(struct worker *worker, const struct sequence *sequence, struct irrun_error *err);

#endif
