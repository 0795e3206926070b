/* Loads, resets and saves the variables of a worker.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/worker_internal.h"

#include <stdlib.h>

#include "base/arena.h"
#include "cli/path_fields.h"
#include "cli/state_file.h"

static bool check_path(const struct options *options, const char *option, const char *path,
                       struct irrun_error *err)
{
    if (!path)
        return true;
    if (!path_check_fields(option, path, "k", err))
        return false;
    if (path_has_field(path, 'k') || !sequences_are_many(options) ||
        options->reset.when == RESET_NEVER)
        return true;
    fail(err, IRRUN_USAGE, "%s%s: there are several sequences", option, path);
    return fail_hint(
        err, "use %%k in the name to write a file for each, or --reset=never to run them as one");
}

bool worker_state_check(const struct options *options, struct irrun_error *err)
{
    if (options->resets_to_state && !options->state_in)
        return fail(err, IRRUN_USAGE, "--reset-to=state needs --state-in");
    return check_path(options, "--state-in=", options->state_in, err) &&
           check_path(options, "--state-out=", options->state_out, err);
}

/* Drops loaded values of variables that -i gives, because -i takes precedence over --state-in. */
static void drop_given_values(struct worker *worker)
{
    size_t n = worker->loaded.n, n_inputs = inputs_n_variables(worker->inputs);
    for (size_t i = 0; i < n_inputs; i++) {
        struct irrun_tensor *value = &worker->loaded.values[n - n_inputs + i];
        if (!inputs_variable_is_given(worker->inputs, i))
            continue;
        free(value->data);
        value->data = NULL;
    }
}

bool worker_state_load(struct worker *worker, const char *key, struct irrun_error *err)
{
    char *path;
    if (!path_fill_field(worker->options->state_in, 'k', key, true, &path, err))
        return false;
    bool is_loaded = state_file_read(path, &worker->variables, worker->model_identity,
                                     worker->options->accepts_any_state, &worker->loaded, err);
    if (is_loaded)
        drop_given_values(worker);
    is_loaded = is_loaded && snapshot_restore(&worker->loaded, &worker->variables, err);
    free(path);
    return is_loaded;
}

bool worker_state_begin(struct worker *worker, const struct sequence *sequence,
                        struct irrun_error *err)
{
    const struct options *options = worker->options;
    bool is_first = worker->stats.n_sequences++ == 0;
    bool has_field = options->state_in && path_has_field(options->state_in, 'k');
    if (worker->keys && has_field)
        return true; /* each key has a file of its own */
    if (options->state_in && (is_first || has_field))
        return worker_state_load(worker, sequence->key, err);
    if (options->reset.when == RESET_NEVER)
        return is_first || inputs_keep_variables(worker->inputs, err);
    return is_first || worker_state_reset(worker, 0, err);
}

bool worker_wants_reset(const struct worker *worker, uint64_t n_before)
{
    uint64_t period = worker->reset_period;
    return (period > 0 && n_before > 0 && n_before % period == 0) ||
           (worker->options->reset.when == RESET_IF && inputs_want_reset(worker->inputs));
}

bool worker_state_reset(struct worker *worker, uint64_t index, struct irrun_error *err)
{
    uint64_t start = event_start(worker->track);
    worker->stats.n_resets++;
    bool is_reset = worker->keys ? worker_keys_reset(worker, err)
                    : worker->options->resets_to_state
                        ? snapshot_restore(&worker->loaded, &worker->variables, err)
                        : all_variables_reset(&worker->variables, err);
    event_add(worker->track, "reset", index, start);
    return is_reset && diff_copy_variables(worker->diff, err);
}

bool worker_state_save(struct worker *worker, const char *key,
                       const struct irrun_tensor *const *values, struct irrun_error *err)
{
    char *path;
    if (!path_fill_field(worker->options->state_out, 'k', key, true, &path, err))
        return false;
    bool is_saved = state_file_write(path, &worker->variables, values, worker->model_identity,
                                     worker->options->is_synced, err);
    free(path);
    return is_saved;
}

static bool save_variables(struct worker *worker, const char *key, struct irrun_error *err)
{
    const struct irrun_tensor **values =
        new_array(all_variables_count(&worker->variables), sizeof(struct irrun_tensor *), err);
    if (values)
        all_variables_values(&worker->variables, values);
    bool is_saved = values && worker_state_save(worker, key, values, err);
    free(values);
    return is_saved;
}

bool worker_state_end_sequence(struct worker *worker, const struct sequence *sequence,
                               struct irrun_error *err)
{
    const char *path = worker->options->state_out;
    if (!path || !path_has_field(path, 'k'))
        return true;
    return worker->keys ? worker_keys_save_all(worker, err)
                        : save_variables(worker, sequence->key, err);
}

bool worker_state_end_run(struct worker *worker, struct irrun_error *err)
{
    const char *path = worker->options->state_out;
    bool was_run = worker->stats.n_sequences > 0;
    return !path || !was_run || path_has_field(path, 'k') || save_variables(worker, "-", err);
}
