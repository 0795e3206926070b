/* Decides which output goes to which writer, under which name. How a format lays records down is the
 * writer's business.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/outputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/path_fields.h"
#include "cli/warning.h"

struct destination {
    struct format_spec spec;
    char *path;         /* spec.path with %n filled in; %k and %% are still there */
    size_t *output_ids; /* outputs of the model, in the writer's order */
    const char **names;
    size_t n_outputs;
    bool is_per_sequence;           /* the path has a %k */
    const struct axis_spec *concat; /* NULL: records are not joined */
    struct writer *writer;
};

struct outputs {
    const struct irrun_model *model;
    const struct options *options;
    struct destination *items;
    size_t n, capacity;
    const char *key; /* of the present sequence */
};

/* ---- Destinations ----------------------------------------------------------------------------- */

/* A destination for the outputs ids[0 … n-1]. */
static bool add_destination(struct outputs *outputs, const struct format_spec *spec,
                            const size_t *ids, size_t n, struct irrun_error *err)
{
    if (!grow_array((void **)&outputs->items, outputs->n, &outputs->capacity,
                    sizeof *outputs->items, err))
        return false;
    struct destination *made = &outputs->items[outputs->n++];
    *made = (struct destination){.spec = *spec, .n_outputs = n};
    const char *first = n > 0 ? irrun_model_output(outputs->model, ids[0])->name : "";
    made->is_per_sequence = path_has_field(spec->path, 'k');
    made->output_ids = calloc(n + 1, sizeof *made->output_ids);
    made->names = calloc(n + 1, sizeof(char *));
    if (!made->output_ids || !made->names)
        return fail_memory(err, (n + 1) * sizeof *made->output_ids);
    if (!path_fill_field(spec->path, 'n', first, false, &made->path, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        made->output_ids[i] = ids[i];
        made->names[i] = irrun_model_output(outputs->model, ids[i])->name;
    }
    return true;
}

static bool fail_nameless(const struct outputs *outputs, const struct format_spec *spec,
                          struct irrun_error *err)
{
    fail(err, IRRUN_USAGE, "-o %s: %s holds one output, and the model has", spec->path,
         spec->format->name);
    for (size_t i = 0; i < irrun_model_n_outputs(outputs->model); i++)
        fail_more(err, "%s \"%s\"", i == 0 ? "" : ",", irrun_model_output(outputs->model, i)->name);
    return fail_hint(err, "write -o NAME=%s, or %%n in the file name, or npz", spec->path);
}

static bool add_binding(struct outputs *outputs, const struct binding *binding,
                        struct irrun_error *err)
{
    const struct format_spec *spec = &binding->spec;
    size_t n = irrun_model_n_outputs(outputs->model), index;
    if (!path_check_fields("-o ", spec->path, "kn", err))
        return false;
    if (binding->name)
        return irrun_model_find_output(outputs->model, binding->name, &index, err) &&
               add_destination(outputs, spec, &index, 1, err);
    if (path_has_field(spec->path, 'n')) {
        for (size_t i = 0; i < n; i++) {
            if (!add_destination(outputs, spec, &i, 1, err))
                return false;
        }
        return true;
    }
    if (n > 1 && !spec->format->is_shared)
        return fail_nameless(outputs, spec, err);
    size_t *all = calloc(n + 1, sizeof *all);
    if (!all)
        return fail_memory(err, (n + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = i;
    bool is_added = add_destination(outputs, spec, all, n, err);
    free(all);
    return is_added;
}

/* --concat of one output; by name, else the one for all. */
static bool find_concat(const struct outputs *outputs, size_t output,
                        const struct axis_spec **concat, struct irrun_error *err)
{
    const struct axis_list *list = &outputs->options->concats;
    *concat = NULL;
    for (size_t i = 0; i < list->n; i++) {
        size_t named;
        if (!list->items[i].name) {
            *concat = *concat ? *concat : &list->items[i];
            continue;
        }
        if (!irrun_model_find_output(outputs->model, list->items[i].name, &named, err))
            return false;
        if (named == output)
            *concat = &list->items[i];
    }
    return true;
}

/* What goes into one file is joined along one axis, or not at all. */
static bool settle_concat(const struct outputs *outputs, struct destination *item,
                          struct irrun_error *err)
{
    for (size_t i = 0; i < item->n_outputs; i++) {
        const struct axis_spec *concat;
        if (!find_concat(outputs, item->output_ids[i], &concat, err))
            return false;
        bool is_same = concat == item->concat ||
                       (concat && item->concat && concat->axis == item->concat->axis);
        if (i > 0 && !is_same)
            return fail(err, IRRUN_USAGE, "--concat: outputs \"%s\" and \"%s\" go to %s together",
                        item->names[0], item->names[i], item->path);
        item->concat = concat;
    }
    return true;
}

/* Several sequences in one file. */
static bool check_sharing(const struct outputs *outputs, const struct destination *item,
                          struct irrun_error *err)
{
    const struct format *format = item->spec.format;
    bool is_closed = format->has_names || (item->concat && format->has_shape && !format->has_keys);
    if (!is_closed || item->is_per_sequence || !sequences_are_many(outputs->options))
        return true;
    fail(err, IRRUN_USAGE, "-o %s: %s cannot hold several sequences%s", item->path, format->name,
         item->concat ? " whose records are joined" : "");
    return fail_hint(err, "%%k in the file name makes one file for each");
}

static bool settle_destinations(const struct outputs *outputs, struct irrun_error *err)
{
    for (size_t i = 0; i < outputs->n; i++) {
        if (!settle_concat(outputs, &outputs->items[i], err) ||
            !check_sharing(outputs, &outputs->items[i], err))
            return false;
    }
    return true;
}

static bool check_collisions(const struct outputs *outputs, struct irrun_error *err)
{
    const char *report = outputs->options->report_path;
    for (size_t i = 0; i < outputs->n && report; i++) {
        if (strcmp(outputs->items[i].path, report) == 0)
            return fail(err, IRRUN_USAGE, "-o and --report write to %s",
                        strcmp(report, "-") == 0 ? "standard output ('-')" : report);
    }
    for (size_t i = 0; i < outputs->n; i++) {
        const char *path = outputs->items[i].path;
        for (size_t j = 0; j < i && *path; j++) {
            if (strcmp(outputs->items[j].path, path) == 0)
                return fail(err, IRRUN_USAGE, "two -o write to %s",
                            strcmp(path, "-") == 0 ? "standard output ('-')" : path);
        }
    }
    return true;
}

bool outputs_new(const struct irrun_model *model, const struct options *options,
                 struct outputs **outputs, struct irrun_error *err)
{
    struct outputs *made = calloc(1, sizeof *made);
    *outputs = made;
    if (!made)
        return fail_memory(err, sizeof *made);
    made->model = model;
    made->options = options;
    for (size_t i = 0; i < options->outputs.n; i++) {
        if (!add_binding(made, &options->outputs.items[i], err))
            return false;
    }
    bool is_stdout_free = !options->report_path || strcmp(options->report_path, "-") != 0;
    if (options->outputs.n == 0 && options->expected.n == 0 && is_stdout_free) {
        struct binding standard = {.name = NULL};
        if (!format_parse_destination("text:-", &standard.spec, err) ||
            !add_binding(made, &standard, err))
            return false;
    }
    return settle_destinations(made, err) && check_collisions(made, err);
}

void outputs_free(struct outputs *outputs)
{
    if (!outputs)
        return;
    for (size_t i = 0; i < outputs->n; i++) {
        struct destination *item = &outputs->items[i];
        writer_abort(item->writer);
        free(item->path);
        free(item->output_ids);
        free(item->names);
    }
    free(outputs->items);
    free(outputs);
}

static bool is_none(const struct outputs *outputs, const struct destination *item)
{
    return outputs->options->emit == EMIT_NONE || strcmp(item->spec.format->name, "none") == 0;
}

bool outputs_are_none(const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->n; i++) {
        if (!is_none(outputs, &outputs->items[i]))
            return false;
    }
    return true;
}

bool outputs_depend_on_layout(const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->n; i++) {
        const struct destination *item = &outputs->items[i];
        if (item->spec.format->has_shape && item->spec.format->is_binary &&
            strcmp(item->path, "-") != 0)
            return true;
    }
    return false;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static bool open_destination(struct outputs *outputs, struct destination *item,
                             const struct irrun_tensor *const *values, bool is_stacked,
                             struct irrun_error *err)
{
    bool is_terminal = strcmp(item->path, "-") == 0 && isatty(STDOUT_FILENO);
    bool is_shared = sequences_are_many(outputs->options) && !item->is_per_sequence &&
                     !item->spec.format->has_keys;
    struct writer_options how = {.names = item->names,
                                 .n_outputs = item->n_outputs,
                                 .layout = item->concat              ? WRITER_CONCAT
                                           : is_stacked || is_shared ? WRITER_STACK
                                                                     : WRITER_ONE,
                                 .concat_axis = item->concat ? (int)item->concat->axis : 0,
                                 .is_text_variant = item->spec.is_text_variant,
                                 .is_summarised = is_terminal,
                                 .is_flushed = is_terminal || outputs->options->is_line_buffered,
                                 .is_synced = outputs->options->is_synced};
    char *path;
    if (!path_fill_field(item->path, 'k', outputs->key, true, &path, err))
        return false;
    bool is_open = writer_open(item->spec.format, path, &how, &item->writer, err);
    tell(outputs->options, "%zu of %zu outputs to %s as %s, %s", item->n_outputs,
         irrun_model_n_outputs(outputs->model), path, item->spec.format->name,
         is_stacked ? "every iteration" : "one record");
    free(path);
    for (size_t i = 0; i < item->n_outputs && is_open; i++) {
        const struct irrun_tensor *form = values[item->output_ids[i]];
        if (form)
            writer_expect(item->writer, i, form->dtype, &form->shape);
    }
    return is_open;
}

bool outputs_begin_sequence(struct outputs *outputs, const struct sequence *sequence,
                            const struct irrun_tensor *const *values, bool is_stacked,
                            struct irrun_error *err)
{
    outputs->key = sequence->key;
    for (size_t i = 0; i < outputs->n; i++) {
        struct destination *item = &outputs->items[i];
        if (!item->writer && !is_none(outputs, item) &&
            !open_destination(outputs, item, values, is_stacked, err))
            return false;
    }
    return true;
}

bool outputs_write(struct outputs *outputs, const struct irrun_tensor *const *values,
                   uint64_t index, struct irrun_error *err)
{
    struct record_label label = {.sequence = outputs->key, .index = index};
    for (size_t i = 0; i < outputs->n; i++) {
        const struct destination *item = &outputs->items[i];
        for (size_t j = 0; j < item->n_outputs && item->writer; j++) {
            if (!writer_write(item->writer, j, values[item->output_ids[j]], &label, err))
                return false;
        }
    }
    return true;
}

bool outputs_end_sequence(struct outputs *outputs, struct irrun_error *err)
{
    for (size_t i = 0; i < outputs->n; i++) {
        struct destination *item = &outputs->items[i];
        struct writer *writer = item->writer;
        if (!writer)
            continue;
        if (item->is_per_sequence)
            item->writer = NULL;
        if (!(item->is_per_sequence ? writer_finish(writer, err)
                                    : writer_end_sequence(writer, err)))
            return false;
    }
    return true;
}

bool outputs_finish(struct outputs *outputs, struct irrun_error *err)
{
    for (size_t i = 0; i < outputs->n; i++) {
        struct writer *writer = outputs->items[i].writer;
        outputs->items[i].writer = NULL;
        if (writer && !writer_finish(writer, err))
            return false;
    }
    return true;
}
