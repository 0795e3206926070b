/* --checkpoint in a lane: begins where the last process stopped, and notes how far it is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_LANE_CHECKPOINT_H
#define IRRUN_CLI_LANE_CHECKPOINT_H

#include "cli/lane.h"

/* Reads the checkpoint, if the options name one and it is there; then variables, inputs and outputs
 * are put where it says. lane->checkpoint.n_iterations are done. Before collector_begin. */
bool lane_checkpoint_begin(struct lane *lane, struct irrun_error *err);

/* After n_done iterations, when it is known that another follows: writes a checkpoint if it is due.
 * After a signal it fails with IRRUN_TEMPORARY. */
bool lane_checkpoint_step(struct lane *lane, uint64_t n_done, struct irrun_error *err);

/* After the last record was written, before files get their names. */
bool lane_checkpoint_finish(struct lane *lane, uint64_t n_done, struct irrun_error *err);

#endif
