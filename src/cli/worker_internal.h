/* What a worker does to its variables, and how it begins where the last process stopped.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_WORKER_INTERNAL_H
#define IRRUN_CLI_WORKER_INTERNAL_H

#include "cli/worker.h"

/* ---- --state-in, --state-out, --reset-to: worker_state.c ------------------------------------- */

/* IRRUN_USAGE if the options do not fit together or the number of sequences. */
bool worker_state_check(const struct options *options, struct irrun_error *err);

/* At the beginning of a sequence: loads the state that belongs to it, or resets unless that is
 * forbidden. */
bool worker_state_begin(struct worker *worker, const struct sequence *sequence,
                        struct irrun_error *err);

/* To the initial values, or to those of --state-in; before iteration `index`. */
bool worker_state_reset(struct worker *worker, uint64_t index, struct irrun_error *err);

/* Saves: at the end of a sequence if every one has its own file, at the end of the run
 * otherwise. */
bool worker_state_end_sequence(struct worker *worker, const struct sequence *sequence,
                               struct irrun_error *err);
bool worker_state_end_run(struct worker *worker, struct irrun_error *err);

/* ---- --checkpoint: worker_checkpoint.c ------------------------------------------------------- */

/* Reads the checkpoint, if the options name one and it is there; then variables, inputs and outputs
 * are put where it says. worker->checkpoint.n_iterations are done. Before collector_begin. */
bool worker_checkpoint_begin(struct worker *worker, struct irrun_error *err);

/* After n_done iterations, when it is known that another follows: writes a checkpoint if it is due.
 * After a signal it fails with IRRUN_TEMPORARY. */
bool worker_checkpoint_step(struct worker *worker, uint64_t n_done, struct irrun_error *err);

/* After the last record was written, before files get their names. */
bool worker_checkpoint_finish(struct worker *worker, uint64_t n_done, struct irrun_error *err);

#endif
