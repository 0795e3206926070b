/* Decides when to write a checkpoint, and resumes a run from a checkpoint.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/worker_internal.h"

#include <inttypes.h>
#include <signal.h>

#include "cli/signals.h"
#include "cli/warning.h"

static bool resume_run(struct worker *worker, struct irrun_error *err)
{
    const struct options *options = worker->options;
    struct outputs *outputs = collector_outputs(worker->collector);
    const struct checkpoint *checkpoint = &worker->checkpoint;
    if (checkpoint->n_positions != outputs_n_positions(outputs))
        return fail_at(err, IRRUN_DATA, whole_file(options->checkpoint_path),
                       "is damaged: it gives positions in %zu outputs, expected %zu",
                       checkpoint->n_positions, outputs_n_positions(outputs));
    inform(options, "%s: resuming after %" PRIu64 " iterations", options->checkpoint_path,
           checkpoint->n_iterations);
    outputs_resume(outputs, checkpoint->positions, checkpoint->is_finishing);
    return inputs_skip(worker->inputs, checkpoint->n_iterations, err) &&
           snapshot_restore(&checkpoint->variables, &worker->variables, err);
}

bool worker_checkpoint_begin(struct worker *worker, struct irrun_error *err)
{
    const struct options *options = worker->options;
    if (!options->checkpoint_path)
        return true;
    if (!checkpoint_identify(worker->model_identity, worker->session, options, &worker->identity,
                             err) ||
        !checkpoint_read(options, worker->identity, &worker->variables, &worker->checkpoint, err) ||
        (worker->checkpoint.is_found && !resume_run(worker, err)))
        return false;
    signals_defer();
    return true;
}

static bool save_checkpoint(struct worker *worker, uint64_t n_done, bool is_finishing,
                            struct irrun_error *err)
{
    uint64_t start = event_start(worker->track);
    struct outputs *outputs = collector_outputs(worker->collector);
    struct checkpoint *checkpoint = &worker->checkpoint;
    size_t n = outputs_n_positions(outputs);
    checkpoint_free(checkpoint);
    checkpoint->n_iterations = n_done;
    checkpoint->is_finishing = is_finishing;
    checkpoint->positions = new_array(n, sizeof *checkpoint->positions, err);
    if (!checkpoint->positions)
        return false;
    checkpoint->n_positions = n;
    if (!irrun_model_check_weights(worker->model, err) ||
        !outputs_pause(outputs, checkpoint->positions, err) ||
        !snapshot_save(&checkpoint->variables, &worker->variables, err) ||
        !checkpoint_write(worker->options, worker->identity, &worker->variables, checkpoint, err))
        return false;
    event_add(worker->track, "checkpoint", n_done, start);
    return true;
}

bool worker_checkpoint_step(struct worker *worker, uint64_t n_done, struct irrun_error *err)
{
    int signal_number = signals_pending();
    bool is_due = n_done % worker->options->checkpoint_every == 0;
    if ((is_due || signal_number != 0) && !save_checkpoint(worker, n_done, false, err))
        return false;
    if (signal_number == 0)
        return true;
    fail(err, IRRUN_TEMPORARY, "%s after %" PRIu64 " iterations",
         signal_number == SIGALRM ? "timed out" : "interrupted", n_done);
    return fail_hint(err, "the same command resumes from %s", worker->options->checkpoint_path);
}

bool worker_checkpoint_finish(struct worker *worker, uint64_t n_done, struct irrun_error *err)
{
    return !worker->identity || save_checkpoint(worker, n_done, true, err);
}
