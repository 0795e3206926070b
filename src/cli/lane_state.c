/* When the variables of a lane are loaded, reset and saved. The files are state_file.c's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/lane_parts.h"

#include <stdlib.h>

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
    return fail_hint(err, "%%k in the name makes a file for each; --reset=never makes them one");
}

bool lane_state_check(const struct options *options, struct irrun_error *err)
{
    if (options->resets_to_state && !options->state_in)
        return fail(err, IRRUN_USAGE, "--reset-to=state needs --state-in");
    return check_path(options, "--state-in=", options->state_in, err) &&
           check_path(options, "--state-out=", options->state_out, err);
}

static bool load(struct lane *lane, const char *key, struct irrun_error *err)
{
    char *path;
    if (!path_fill_field(lane->options->state_in, 'k', key, true, &path, err))
        return false;
    bool is_loaded = state_file_read(path, lane->model, lane->model_identity,
                                     lane->options->takes_any_state, &lane->loaded, err) &&
                     snapshot_restore(&lane->loaded, lane->session, err);
    free(path);
    return is_loaded;
}

bool lane_state_begin(struct lane *lane, const struct sequence *sequence, struct irrun_error *err)
{
    const struct options *options = lane->options;
    bool is_first = lane->stats.n_sequences++ == 0;
    if (options->state_in && (is_first || path_has_field(options->state_in, 'k')))
        return load(lane, sequence->key, err);
    return is_first || options->reset.when == RESET_NEVER || lane_state_reset(lane, err);
}

bool lane_state_reset(struct lane *lane, struct irrun_error *err)
{
    lane->stats.n_resets++;
    if (lane->options->resets_to_state)
        return snapshot_restore(&lane->loaded, lane->session, err);
    irrun_session_reset(lane->session);
    return true;
}

static bool save(struct lane *lane, const char *key, struct irrun_error *err)
{
    char *path;
    if (!path_fill_field(lane->options->state_out, 'k', key, true, &path, err))
        return false;
    bool is_saved = state_file_write(path, lane->model, lane->model_identity, lane->session,
                                     lane->options->is_synced, err);
    free(path);
    return is_saved;
}

bool lane_state_end_sequence(struct lane *lane, const struct sequence *sequence,
                             struct irrun_error *err)
{
    const char *path = lane->options->state_out;
    return !path || !path_has_field(path, 'k') || save(lane, sequence->key, err);
}

bool lane_state_end_run(struct lane *lane, struct irrun_error *err)
{
    const char *path = lane->options->state_out;
    return !path || path_has_field(path, 'k') || save(lane, "-", err);
}
