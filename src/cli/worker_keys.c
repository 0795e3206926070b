/* --key: a sequence contains records of many keys, each with its own variables. The session holds
 * the variables of one key. When the next record has a different key, the session switches to the
 * variables of that key.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/path_fields.h"
#include "cli/worker_internal.h"

#define KEY_TEXT_BYTES 24

static const char *format_key(int64_t key, char text[KEY_TEXT_BYTES])
{
    snprintf(text, KEY_TEXT_BYTES, "%" PRId64, key);
    return text;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

bool worker_keys_check(const struct options *options, struct irrun_error *err)
{
    static const enum option_id key_options[] = {OPTION_ID_max_keys, OPTION_ID_spill,
                                                 OPTION_ID_batch};
    for (size_t i = 0; i < sizeof key_options / sizeof *key_options && !options->key; i++)
        if (option_is_given(options, key_options[i]))
            return fail(err, IRRUN_USAGE, "--%s needs --key", option_rows[key_options[i]].name);
    if (!options->key)
        return true;
    if (!OPTIONS_EXCLUDE(options, "key", err, OPTION_ID_manifest, OPTION_ID_checkpoint,
                         OPTION_ID_until) ||
        (options->batch > 1 && !OPTIONS_EXCLUDE(options, "batch", err, OPTION_ID_diff,
                                                OPTION_ID_tap_all, OPTION_ID_tap_records)))
        return false;
    if (options->batch > options->max_keys)
        return fail(err, IRRUN_USAGE, "--batch=%" PRIu64 " must not be above --max-keys=%" PRIu64,
                    options->batch, options->max_keys);
    if (sequences_are_many(options))
        return fail(err, IRRUN_USAGE, "--key works with one sequence only, not with an ark");
    if (!options->state_out || path_has_field(options->state_out, 'k'))
        return true;
    fail(err, IRRUN_USAGE, "--state-out=%s: every key has variables of its own",
         options->state_out);
    return fail_hint(err, "use %%k in the name to write a file for each");
}

bool worker_keys_open(struct worker *worker, struct irrun_error *err)
{
    const struct options *options = worker->options;
    size_t n = all_variables_count(&worker->variables);
    if (!options->key)
        return true;
    struct worker_keys *keys = worker->keys = new_array(1, sizeof *keys, err);
    if (!keys)
        return false;
    keys->current = NO_KEY;
    keys->values = new_array(n, sizeof(struct irrun_tensor *), err);
    return keys->values &&
           key_states_new(n, options->max_keys, options->spill_path, &keys->states, err);
}

void worker_keys_close(struct worker *worker)
{
    if (!worker->keys)
        return;
    key_states_free(worker->keys->states);
    free(worker->keys->values);
    free(worker->keys);
    worker->keys = NULL;
}

/* ---- Switching keys -------------------------------------------------------------------------- */

/* Sets *exists to whether --state-in has a file for the key, even an unreadable one. */
static bool find_state_file(const char *state_in, const char *key, bool *exists,
                            struct irrun_error *err)
{
    char *path;
    if (!path_fill_field(state_in, 'k', key, true, &path, err))
        return false;
    *exists = access(path, F_OK) == 0 || errno != ENOENT;
    free(path);
    return true;
}

bool worker_keys_begin(struct worker *worker, int64_t key, struct irrun_error *err)
{
    const struct options *options = worker->options;
    char text[KEY_TEXT_BYTES];
    bool exists = false;
    if (options->state_in && !path_has_field(options->state_in, 'k'))
        return snapshot_restore(&worker->loaded, &worker->variables, err);
    if (options->state_in &&
        !find_state_file(options->state_in, format_key(key, text), &exists, err))
        return false;
    return exists ? worker_state_load(worker, text, err)
                  : all_variables_reset(&worker->variables, err);
}

bool worker_keys_reset(struct worker *worker, struct irrun_error *err)
{
    const struct worker_keys *keys = worker->keys;
    return worker->options->resets_to_state
               ? worker_keys_begin(worker, key_states_key(keys->states, keys->current), err)
               : all_variables_reset(&worker->variables, err);
}

/* Copies the variables of the session to the state of their key. */
static bool store_current_key(struct worker *worker, struct irrun_error *err)
{
    struct worker_keys *keys = worker->keys;
    if (keys->current == NO_KEY)
        return true;
    all_variables_values(&worker->variables, keys->values);
    return key_states_put(keys->states, keys->current, keys->values, err);
}

/* Loads the variables of the session from the state of a key. */
static bool load_key(struct worker *worker, uint32_t id, struct irrun_error *err)
{
    const struct all_variables *variables = &worker->variables;
    const struct irrun_tensor *values = key_states_get(worker->keys->states, id, err);
    if (!values)
        return false;
    irrun_session_reset(worker->session);
    for (size_t i = 0; i < all_variables_count(variables); i++)
        if (values[i].data && !all_variables_set(variables, i, &values[i], err))
            return false;
    return true;
}

/* Stores the variables of the current key, and loads those of `key`. */
static bool switch_key(struct worker *worker, int64_t key, struct irrun_error *err)
{
    struct worker_keys *keys = worker->keys;
    uint32_t id;
    bool is_new;
    if (!store_current_key(worker, err) || !key_states_find(keys->states, key, &id, &is_new, err))
        return false;
    keys->current = id;
    return (is_new ? worker_keys_begin(worker, key, err) : load_key(worker, id, err)) &&
           diff_copy_variables(worker->diff, err);
}

bool worker_keys_select(struct worker *worker, uint64_t *n_before, struct irrun_error *err)
{
    struct worker_keys *keys = worker->keys;
    int64_t key = inputs_key(worker->inputs);
    bool is_current = keys->current != NO_KEY && key_states_key(keys->states, keys->current) == key;
    if (!is_current && !switch_key(worker, key, err))
        return false;
    *n_before = key_states_count_iteration(keys->states, keys->current);
    return true;
}

/* ---- --state-out ----------------------------------------------------------------------------- */

bool worker_keys_save_all(struct worker *worker, struct irrun_error *err)
{
    struct worker_keys *keys = worker->keys;
    size_t n = all_variables_count(&worker->variables);
    uint64_t n_keys = key_states_stats(keys->states).n_keys;
    char text[KEY_TEXT_BYTES];
    if (!worker->batch && !store_current_key(worker, err))
        return false;
    for (uint32_t id = 0; id < n_keys; id++) {
        const struct irrun_tensor *values = key_states_get(keys->states, id, err);
        if (!values)
            return false;
        for (size_t i = 0; i < n; i++)
            keys->values[i] = values[i].data ? &values[i] : NULL;
        format_key(key_states_key(keys->states, id), text);
        if (!worker_state_save(worker, text, keys->values, err))
            return false;
    }
    return true;
}
