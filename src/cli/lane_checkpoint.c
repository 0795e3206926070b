/* When a checkpoint is due, and what a lane puts into it. The file is checkpoint.c's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/lane_parts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/signals.h"
#include "cli/warning.h"

static bool restore(struct lane *lane, struct irrun_error *err)
{
    const struct checkpoint *checkpoint = &lane->checkpoint;
    if (!snapshot_restore(&checkpoint->variables, lane->session, err) ||
        !inputs_skip(lane->inputs, lane->session, checkpoint->n_iterations, err))
        return false;
    for (size_t i = 0; i < lane->options->loops.n; i++) {
        const struct irrun_tensor *value = &checkpoint->fed.values[i];
        if (value->data &&
            !inputs_set(lane->inputs, lane->session, inputs_fed(lane->inputs, i), value, err))
            return false;
    }
    return true;
}

static bool go_on(struct lane *lane, struct irrun_error *err)
{
    const struct options *options = lane->options;
    struct outputs *outputs = collector_outputs(lane->collector);
    const struct checkpoint *checkpoint = &lane->checkpoint;
    if (checkpoint->n_positions != outputs_n_positions(outputs))
        return fail_at(err, IRRUN_DATA, (struct place){options->checkpoint_path, 0, 0},
                       "is damaged: it has %zu outputs of %zu", checkpoint->n_positions,
                       outputs_n_positions(outputs));
    tell(options, "%s: going on after %" PRIu64 " iterations", options->checkpoint_path,
         checkpoint->n_iterations);
    outputs_resume(outputs, checkpoint->positions, checkpoint->is_finishing);
    return restore(lane, err);
}

bool lane_checkpoint_begin(struct lane *lane, struct irrun_error *err)
{
    const struct options *options = lane->options;
    if (!options->checkpoint_path)
        return true;
    if (!checkpoint_identify(lane->model_identity, lane->session, options, &lane->identity, err) ||
        !checkpoint_read(options, lane->identity, lane->model, lane->inputs, &lane->checkpoint,
                         err) ||
        (lane->checkpoint.is_found && !go_on(lane, err)))
        return false;
    signals_defer();
    return true;
}

static bool take_fed(struct lane *lane, struct snapshot *fed, struct irrun_error *err)
{
    if (!snapshot_new(fed, lane->options->loops.n, err))
        return false;
    for (size_t i = 0; i < fed->n; i++) {
        const struct irrun_tensor *record =
            inputs_record(lane->inputs, inputs_fed(lane->inputs, i));
        if (!snapshot_copy(&fed->values[i], record, err))
            return false;
    }
    return true;
}

static bool save(struct lane *lane, uint64_t n_done, bool is_finishing, struct irrun_error *err)
{
    struct outputs *outputs = collector_outputs(lane->collector);
    struct checkpoint *checkpoint = &lane->checkpoint;
    size_t n = outputs_n_positions(outputs);
    checkpoint_free(checkpoint);
    checkpoint->n_iterations = n_done;
    checkpoint->is_finishing = is_finishing;
    checkpoint->positions = new_array(n, sizeof *checkpoint->positions, err);
    if (!checkpoint->positions)
        return false;
    checkpoint->n_positions = n;
    return irrun_model_check_weights(lane->model, err) &&
           outputs_pause(outputs, checkpoint->positions, err) &&
           snapshot_take(&checkpoint->variables, lane->model, lane->session, err) &&
           take_fed(lane, &checkpoint->fed, err) &&
           checkpoint_write(lane->options, lane->identity, lane->model, checkpoint, err);
}

bool lane_checkpoint_step(struct lane *lane, uint64_t n_done, struct irrun_error *err)
{
    int signal_number = signals_pending();
    bool is_due = n_done % lane->options->checkpoint_every == 0;
    if ((is_due || signal_number != 0) && !save(lane, n_done, false, err))
        return false;
    if (signal_number == 0)
        return true;
    fail(err, IRRUN_TEMPORARY, "%s after %" PRIu64 " iterations",
         signal_number == SIGALRM ? "timed out" : "interrupted", n_done);
    return fail_hint(err, "the same command goes on from %s", lane->options->checkpoint_path);
}

bool lane_checkpoint_finish(struct lane *lane, uint64_t n_done, struct irrun_error *err)
{
    return !lane->identity || save(lane, n_done, true, err);
}
