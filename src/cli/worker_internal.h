/* How a worker loads, resets and saves its variables, and resumes from a checkpoint.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_WORKER_INTERNAL_H
#define IRRUN_CLI_WORKER_INTERNAL_H

#include "cli/worker.h"

/* ---- --state-in, --state-out, --reset-to: worker_state.c ------------------------------------- */

/* Fails with IRRUN_USAGE if the options do not fit together, or do not fit the number of
 * sequences. */
bool worker_state_check(const struct options *options, struct irrun_error *err);

/* Begins a sequence: loads its state, or resets the variables unless --reset=never. */
bool worker_state_begin(struct worker *worker, const struct sequence *sequence,
                        struct irrun_error *err);

/* Resets the variables to their initial values, or to those of --state-in, before iteration
 * `index`. */
bool worker_state_reset(struct worker *worker, uint64_t index, struct irrun_error *err);

/* Save the state: at the end of a sequence if each has its own file, otherwise at the end of the
 * run. */
bool worker_state_end_sequence(struct worker *worker, const struct sequence *sequence,
                               struct irrun_error *err);
bool worker_state_end_run(struct worker *worker, struct irrun_error *err);

/* ---- --checkpoint: worker_checkpoint.c ------------------------------------------------------- */

/* Reads the checkpoint, if the options name one and it exists, and restores variables, inputs and
 * outputs. worker->checkpoint.n_iterations are done. Call it before collector_begin. */
bool worker_checkpoint_begin(struct worker *worker, struct irrun_error *err);

/* Writes a checkpoint if it is due, after n_done iterations, when it is known that another one
 * follows. Fails with IRRUN_TEMPORARY after a signal. */
bool worker_checkpoint_step(struct worker *worker, uint64_t n_done, struct irrun_error *err);

/* Marks the checkpoint as finishing, after the last record is written and before files are
 * renamed. */
bool worker_checkpoint_finish(struct worker *worker, uint64_t n_done, struct irrun_error *err);

#endif
