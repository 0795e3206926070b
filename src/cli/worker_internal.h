/* Functions of workers that the files worker*.c and run.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_WORKER_INTERNAL_H
#define IRRUN_CLI_WORKER_INTERNAL_H

#include "cli/worker.h"

/* ---- --state-in, --state-out, --reset-to: worker_state.c ------------------------------------- */

/* Fails with IRRUN_USAGE if these options contradict each other, or do not fit the number of
 * sequences. */
bool worker_state_check(const struct options *options, struct irrun_error *err);

/* Begins a sequence: loads its state, or resets the variables unless --reset=never. */
bool worker_state_begin(struct worker *worker, const struct sequence *sequence,
                        struct irrun_error *err);

/* Resets the variables to their initial values, or to those of --state-in. index: the next
 * iteration. */
bool worker_state_reset(struct worker *worker, uint64_t index, struct irrun_error *err);

/* Save the state for --state-out: worker_state_end_sequence if each sequence has its own file,
 * otherwise worker_state_end_run. */
bool worker_state_end_sequence(struct worker *worker, const struct sequence *sequence,
                               struct irrun_error *err);
bool worker_state_end_run(struct worker *worker, struct irrun_error *err);

/* Loads the variables from the --state-in file of the key. Variables that the file lacks get their
 * initial values. */
bool worker_state_load(struct worker *worker, const char *key, struct irrun_error *err);

/* Saves the values of the variables in the --state-out file of the key. */
bool worker_state_save(struct worker *worker, const char *key,
                       const struct irrun_tensor *const *values, struct irrun_error *err);

/* Returns whether a reset is due before the current record. n_before: the number of earlier records
 * in the sequence, or with the same key. */
bool worker_wants_reset(const struct worker *worker, uint64_t n_before);

/* ---- The loop: worker.c ---------------------------------------------------------------------- */

/* Reads record `index`. With -n or --duration, the first record follows the last. */
bool worker_read_record(struct worker *worker, uint64_t index, bool *has_record,
                        struct irrun_error *err);

/* Runs the iterations of --warmup on the current record, once, and restores the variables. */
bool worker_warm_up(struct worker *worker, struct irrun_error *err);

/* Runs the session once. Measures the time if the statistics or the trace need it. */
bool worker_run_once(struct worker *worker, uint64_t index, struct irrun_error *err);

/* Sets *is_over to whether the output that --until names equals the given value. In
 * worker_until.c. */
bool worker_until_is_reached(const struct worker *worker, bool *is_over, struct irrun_error *err);

/* Waits until record `index` is available, for --pace. Without --deadline, sets the deadline to the
 * time between records. In worker_pace.c. */
bool worker_wait_for_record(struct worker *worker, uint64_t index, struct irrun_error *err);

/* ---- --batch: worker_batch.c ----------------------------------------------------------------- */

/* Sets worker->batch if --batch is given. Fails with IRRUN_UNSUPPORTED if axis 0 of an
 * input, output or variable is static. */
bool worker_batch_open(struct worker *worker, struct irrun_error *err);
void worker_batch_close(struct worker *worker);

/* Runs the records that are in the batch so far. */
bool worker_batch_run(struct worker *worker, struct irrun_error *err);

/* Runs all records in batches. Leaves the values of the last record in worker->values. */
bool worker_batch_iterate(struct worker *worker, uint64_t *n_done, struct irrun_error *err);

/* ---- --key: worker_keys.c -------------------------------------------------------------------- */

struct worker_keys {
    struct key_states *states;
    const struct irrun_tensor **values; /* of all variables, for key_states_put */
    uint32_t current; /* id of the key whose variables the session holds; or NO_KEY */
};

/* Fails with IRRUN_USAGE if options cannot be used together with --key. */
bool worker_keys_check(const struct options *options, struct irrun_error *err);

/* Sets worker->keys if --key is given. */
bool worker_keys_open(struct worker *worker, struct irrun_error *err);
void worker_keys_close(struct worker *worker);

/* Loads the variables for the key of the current record. Sets *n_before to the number of earlier
 * records with this key. */
bool worker_keys_select(struct worker *worker, uint64_t *n_before, struct irrun_error *err);

/* Sets the variables to their first values for the key, from --state-in or the model. */
bool worker_keys_begin(struct worker *worker, int64_t key, struct irrun_error *err);

/* Resets the variables of the current key. */
bool worker_keys_reset(struct worker *worker, struct irrun_error *err);

/* Saves all keys for --state-out. */
bool worker_keys_save_all(struct worker *worker, struct irrun_error *err);

/* ---- Messages about the session: worker_show.c ----------------------------------------------- */

/* Describes the plan for --verbose. */
void worker_show_plan(const struct worker *worker);

/* Prints a warning of this worker's session. */
void worker_show_warning(void *context, const struct irrun_error *warning);

/* ---- --checkpoint: worker_checkpoint.c ------------------------------------------------------- */

/* Reads the checkpoint, if the options name one and it exists, and restores the variables, inputs
 * and outputs after worker->checkpoint.n_iterations iterations. Call it before collector_begin. */
bool worker_checkpoint_begin(struct worker *worker, struct irrun_error *err);

/* Writes a checkpoint if it is due after n_done iterations. Call it after the next record is read,
 * so that another iteration follows. Fails with IRRUN_TEMPORARY after a signal. */
bool worker_checkpoint_step(struct worker *worker, uint64_t n_done, struct irrun_error *err);

/* Writes a checkpoint with is_finishing set. Call it after the last record is written and before
 * files are renamed. */
bool worker_checkpoint_finish(struct worker *worker, uint64_t n_done, struct irrun_error *err);

#endif
