/* A lane: one session and its inputs, which run one sequence after another.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_LANE_H
#define IRRUN_CLI_LANE_H

#include "cli/checkpoint.h"
#include "cli/collect.h"
#include "cli/inputs.h"
#include "cli/model_identity.h"
#include "cli/progress.h"
#include "cli/snapshot.h"
#include "cli/stats.h"

struct lane {
    const struct options *options;
    struct irrun_model *model;
    const struct model_identity *model_identity; /* for states and checkpoints; borrowed */
    struct irrun_session *session;
    struct inputs *inputs;
    struct collector *collector; /* shared by all lanes */
    struct backlog backlog;
    const struct sequence *sequence;    /* the present one */
    struct reader_wait wait;            /* sends off what is written, if it is this lane's turn */
    const struct irrun_tensor **values; /* outputs of the last iteration, all of the model's */
    size_t n_values;
    struct snapshot snapshot;     /* during --warmup */
    struct snapshot loaded;       /* what --state-in gave last */
    struct checkpoint checkpoint; /* where this run began, or the last one written */
    char *identity;               /* of --checkpoint; NULL: there is none */
    struct stats stats;
    struct progress_counter counter;
    uint64_t deadline_ns;  /* of --duration, on the clock of stats_now_ns; UINT64_MAX: none */
    size_t until_output;   /* of --until */
    uint64_t reset_period; /* iterations from one reset to the next within a sequence; 0: none */
    bool is_warm;
};

/* All zero = nothing to free. The collector and the identity are borrowed. */
bool lane_open(struct lane *lane, struct irrun_model *model,
               const struct model_identity *model_identity, const struct options *options,
               struct collector *collector, struct irrun_error *err);
void lane_close(struct lane *lane);

/* Plans for the inputs that are set, and checks the command line against the shapes. */
bool lane_plan(struct lane *lane, struct irrun_error *err);

/* Opens the inputs of the sequence and plans. */
bool lane_prepare(struct lane *lane, const struct sequence *sequence, struct irrun_error *err);

/* Whether --duration is over. */
bool lane_is_late(const struct lane *lane);

/* All records of the sequence, which was prepared. False without an error: an earlier one
 * failed. */
bool lane_run(struct lane *lane, const struct sequence *sequence, struct irrun_error *err);

#endif
