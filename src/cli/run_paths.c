/* Visits all files of a run, to check them with a path table and to reserve the files that are
 * written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_paths.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output_file.h"
#include "base/temporaries.h"
#include "cli/diff.h"
#include "cli/path_fields.h"
#include "cli/path_table.h"

typedef bool visit_fn(struct run_paths *paths, const struct path_use *use, struct irrun_error *err);

struct run_paths {
    const struct irrun_model *model;
    const struct options *options;
    const struct outputs *outputs;
    struct path_table table;
    visit_fn *visit;                 /* called for each file */
    const struct sequence *sequence; /* the sequence that uses the files; NULL: the command line */
};

/* ---- Files ----------------------------------------------------------------------------------- */

static bool visit(struct run_paths *paths, enum path_kind kind, const char *path,
                  struct irrun_error *err)
{
    const struct path_use use = {.kind = kind, .path = path, .sequence = paths->sequence};
    return !path || paths->visit(paths, &use, err);
}

/* Visits PATH.partial, where --checkpoint keeps an unfinished output. */
static bool visit_unfinished(struct run_paths *paths, const char *path, struct irrun_error *err)
{
    char *partial = output_file_partial_path(path);
    bool is_visited =
        partial ? visit(paths, PATH_UNFINISHED, partial, err) : fail_memory(err, strlen(path));
    free(partial);
    return is_visited;
}

static bool visit_output(void *context, const struct output_path *output, struct irrun_error *err)
{
    struct run_paths *paths = context;
    if (output->key) {
        const struct path_use use = {PATH_KEYED, output->path, output->key, paths->sequence};
        return paths->visit(paths, &use, err);
    }
    return visit(paths, PATH_OUTPUT, output->path, err) &&
           (!paths->options->checkpoint_path || visit_unfinished(paths, output->path, err));
}

static bool visit_bindings(struct run_paths *paths, enum path_kind kind,
                           const struct binding_list *list, struct irrun_error *err)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->items[i].spec.format->is_generated &&
            !visit(paths, kind, list->items[i].spec.path, err))
            return false;
    return true;
}

/* Returns the path, or NULL if every sequence has its own path. */
static const char *common_path(const char *path)
{
    return path && path_has_field(path, 'k') ? NULL : path;
}

/* Visits the files that do not depend on a sequence. */
static bool visit_command_line(struct run_paths *paths, struct irrun_error *err)
{
    const struct options *options = paths->options;
    struct irrun_model_info info;
    paths->sequence = NULL;
    irrun_model_describe(paths->model, &info);
    return visit(paths, PATH_MODEL, options->model_path, err) &&
           visit(paths, PATH_WEIGHTS, info.weights_path, err) &&
           visit(paths, PATH_MANIFEST, options->manifest_path, err) &&
           visit_bindings(paths, PATH_INPUT, &options->inputs, err) &&
           visit_bindings(paths, PATH_EXPECTED, &options->expected, err) &&
           visit(paths, PATH_REFERENCE, diff_runs_model(options) ? NULL : options->diff_reference,
                 err) &&
           visit(paths, PATH_STATE_IN, common_path(options->state_in), err) &&
           outputs_visit_paths(paths->outputs, NULL, visit_output, paths, err) &&
           visit(paths, PATH_REPORT, options->report_path, err) &&
           visit(paths, PATH_GRAPH, options_draw_profile(options) ? "-" : NULL, err) &&
           visit(paths, PATH_TAP_ALL, options->tap_all_path, err) &&
           visit(paths, PATH_TAP_RECORDS, options->tap_records_path, err) &&
           visit(paths, PATH_TRACE, options->trace_path, err) &&
           visit(paths, PATH_STATE_OUT, common_path(options->state_out), err) &&
           visit(paths, PATH_CHECKPOINT, options->checkpoint_path, err) &&
           (!options->checkpoint_path || visit_unfinished(paths, options->checkpoint_path, err));
}

static bool visit_state(struct run_paths *paths, enum path_kind kind, const char *path,
                        struct irrun_error *err)
{
    char *filled;
    if (!path || !path_has_field(path, 'k') || paths->options->key)
        return true; /* the keys of --key are not known yet */
    if (!path_fill_field(path, 'k', paths->sequence->key, true, &filled, err))
        return false;
    bool is_visited = visit(paths, kind, filled, err);
    free(filled);
    return is_visited;
}

static bool visit_sequence(struct run_paths *paths, const struct sequence *sequence,
                           struct irrun_error *err)
{
    paths->sequence = sequence;
    /* Without a manifest, the inputs are those of the command line, which were visited before. */
    for (size_t i = 0; i < sequence->n_inputs && sequence->place.file; i++) {
        const struct format_spec *spec = &sequence->inputs[i].binding.spec;
        if (!spec->format->is_generated && !visit(paths, PATH_INPUT, spec->path, err))
            return false;
    }
    return visit_state(paths, PATH_STATE_IN, paths->options->state_in, err) &&
           outputs_visit_paths(paths->outputs, sequence, visit_output, paths, err) &&
           visit_state(paths, PATH_STATE_OUT, paths->options->state_out, err);
}

static bool add_to_table(struct run_paths *paths, const struct path_use *use,
                         struct irrun_error *err)
{
    return path_table_add(&paths->table, use, err);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

typedef bool sequence_fn(struct run_paths *paths, const struct sequence *sequence,
                         struct irrun_error *err);

/* Returns whether the run will report the error when it reaches the sequence, because the cause is
 * in a manifest or an archive. */
static bool is_reported_later(const struct run_paths *paths, const struct irrun_error *failure)
{
    return !paths->table.has_conflict &&
           (failure->code == IRRUN_DATA || failure->code == IRRUN_USAGE ||
            failure->code == IRRUN_NO_INPUT);
}

/* Calls `visit_one` for every sequence, before the first is run. */
static bool list_sequences(struct run_paths *paths, sequence_fn *visit_one, struct irrun_error *err)
{
    struct sequences *sequences;
    struct irrun_error failure = {.code = IRRUN_OK};
    bool has_one = sequences_new(paths->options, NULL, true, &sequences, &failure);
    while (has_one) {
        struct sequence sequence;
        bool is_visited = sequences_next(sequences, &sequence, &has_one, &failure) &&
                          (!has_one || visit_one(paths, &sequence, &failure));
        sequence_free(&sequence);
        if (is_visited)
            continue;
        has_one = paths->options->manifest_path && failure.code != IRRUN_NO_INPUT &&
                  is_reported_later(paths, &failure);
        if (has_one)
            error_clear(&failure);
    }
    sequences_free(sequences);
    if (failure.code == IRRUN_OK || is_reported_later(paths, &failure))
        return true;
    *err = failure;
    return false;
}

static bool note_outputs(struct run_paths *paths, const struct sequence *sequence,
                         struct irrun_error *err)
{
    (void)err;
    paths->table.adds_reads |= sequence->n_outputs > 0;
    return true;
}

static bool is_regular(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Returns whether all sequences can be read before the run without consuming them. */
static bool can_list(const struct options *options)
{
    if (options->manifest_path)
        return is_regular(options->manifest_path);
    for (size_t i = 0; i < options->inputs.n; i++)
        if (options->inputs.items[i].spec.format->has_keys)
            return is_regular(options->inputs.items[i].spec.path);
    return true;
}

static bool add_sequences(struct run_paths *paths, struct irrun_error *err)
{
    struct path_table *table = &paths->table;
    if (!can_list(paths->options))
        return true;
    if (paths->options->manifest_path && !table->adds_reads &&
        !list_sequences(paths, note_outputs, err))
        return false;
    table->is_ahead = true;
    bool is_needed = table->adds_reads || (table->has_writes && paths->options->manifest_path);
    if (is_needed && !list_sequences(paths, visit_sequence, err))
        return false;
    digest_set_free(&table->seen);
    return true;
}

bool run_paths_begin_sequence(struct run_paths *paths, const struct sequence *sequence,
                              struct irrun_error *err)
{
    struct path_table *table = &paths->table;
    if (table->is_ahead)
        return true;
    table->adds_reads |= sequence->n_outputs > 0;
    paths->visit = add_to_table;
    return (!table->adds_reads && !table->has_writes) || visit_sequence(paths, sequence, err);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

bool run_paths_new(const struct irrun_model *model, const struct options *options,
                   const struct outputs *outputs, struct run_paths **paths, struct irrun_error *err)
{
    struct run_paths *made = *paths = new_array(1, sizeof *made, err);
    if (!made)
        return false;
    *made = (struct run_paths){
        .model = model, .options = options, .outputs = outputs, .visit = add_to_table};
    made->table = (struct path_table){.options = options, .is_many = sequences_are_many(options)};
    made->table.adds_reads = outputs_have_own_paths(outputs) ||
                             (options->state_out && path_has_field(options->state_out, 'k'));
    return visit_command_line(made, err) && add_sequences(made, err);
}

static bool reserve_file(struct run_paths *paths, const struct path_use *use,
                         struct irrun_error *err)
{
    (void)paths;
    bool is_named =
        path_kind_is_written(use->kind) && use->kind != PATH_UNFINISHED && use->kind != PATH_KEYED;
    return !is_named || output_file_reserve(use->path, err);
}

bool run_paths_reserve(struct run_paths *paths, struct irrun_error *err)
{
    paths->visit = reserve_file;
    return visit_command_line(paths, err) &&
           (paths->table.is_many || list_sequences(paths, visit_sequence, err));
}

void run_paths_free(struct run_paths *paths)
{
    if (!paths)
        return;
    temporaries_release();
    digest_set_free(&paths->table.seen);
    free(paths);
}
