/* What --state-in, --state-out and --reset-to do to the variables of a lane.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_LANE_STATE_H
#define IRRUN_CLI_LANE_STATE_H

#include "cli/lane.h"

/* IRRUN_USAGE if the options do not fit together or the number of sequences. */
bool lane_state_check(const struct options *options, struct irrun_error *err);

/* At the beginning of a sequence: loads the state that belongs to it, or resets unless that is
 * forbidden. */
bool lane_state_begin(struct lane *lane, const struct sequence *sequence, struct irrun_error *err);

/* To the initial values, or to those of --state-in. */
bool lane_state_reset(struct lane *lane, struct irrun_error *err);

/* Saves: at the end of a sequence if every one has its own file, at the end of the run
 * otherwise. */
bool lane_state_end_sequence(struct lane *lane, const struct sequence *sequence,
                             struct irrun_error *err);
bool lane_state_end_run(struct lane *lane, struct irrun_error *err);

#endif
