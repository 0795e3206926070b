/* What a lane does to its variables, and how it begins where the last process stopped.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_LANE_PARTS_H
#define IRRUN_CLI_LANE_PARTS_H

#include "cli/lane.h"

/* ---- --state-in, --state-out, --reset-to: lane_state.c --------------------------------------- */

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

/* ---- --checkpoint: lane_checkpoint.c --------------------------------------------------------- */

/* Reads the checkpoint, if the options name one and it is there; then variables, inputs and outputs
 * are put where it says. lane->checkpoint.n_iterations are done. Before collector_begin. */
bool lane_checkpoint_begin(struct lane *lane, struct irrun_error *err);

/* After n_done iterations, when it is known that another follows: writes a checkpoint if it is due.
 * After a signal it fails with IRRUN_TEMPORARY. */
bool lane_checkpoint_step(struct lane *lane, uint64_t n_done, struct irrun_error *err);

/* After the last record was written, before files get their names. */
bool lane_checkpoint_finish(struct lane *lane, uint64_t n_done, struct irrun_error *err);

#endif
