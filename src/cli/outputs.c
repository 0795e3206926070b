/* Decides which output goes to which writer, under which name. How a format lays records down is the
 * writer's business.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/outputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/warning.h"

struct destination {
    struct format_spec spec;
    char *path;         /* spec.path with %n filled in; %k and %% are still there */
    size_t *output_ids; /* outputs of the model, in the writer's order */
    const char **names;
    size_t n_outputs;
    bool is_per_sequence; /* the path has a %k */
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

static bool has_field(const char *path, char field)
{
    for (const char *p = strchr(path, '%'); p; p = strchr(p + 1 + (p[1] != '\0'), '%')) {
        if (p[1] == field)
            return true;
    }
    return false;
}

static bool check_fields(const char *path, struct irrun_error *err)
{
    for (const char *p = strchr(path, '%'); p; p = strchr(p + 2, '%')) {
        if (p[1] == '\0' || !strchr("kn%", p[1])) {
            fail(err, IRRUN_USAGE, "-o %s: '%.2s' stands for nothing", path, p);
            return fail_hint(err,
                             "%%k is the sequence's key, %%n the output's name, %%%% a percent");
        }
    }
    return true;
}

static void add_as_file_name(struct text *text, const char *name)
{
    for (; *name; name++)
        text_add_bytes(text, *name == '/' ? "_" : name, 1);
}

/* Puts `value` for %field, and if `is_last` a percent for %%; malloc'ed, NULL without memory. */
static char *fill_field(const char *path, char field, const char *value, bool is_last)
{
    struct text text = {0};
    text_add_bytes(&text, "", 0);
    for (const char *p = path; *p; p++) {
        if (p[0] == '%' && p[1] == field) {
            add_as_file_name(&text, value);
            p++;
        } else if (p[0] == '%' && p[1] == '%') {
            text_add_bytes(&text, "%%", is_last ? 1 : 2);
            p++;
        } else {
            text_add_bytes(&text, p, 1);
        }
    }
    if (!text.is_broken)
        return text.data;
    text_free(&text);
    return NULL;
}

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
    made->path = fill_field(spec->path, 'n', first, false);
    made->is_per_sequence = has_field(spec->path, 'k');
    made->output_ids = calloc(n + 1, sizeof *made->output_ids);
    made->names = calloc(n + 1, sizeof(char *));
    if (!made->path || !made->output_ids || !made->names)
        return fail_memory(err, (n + 1) * sizeof *made->output_ids);
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
    if (!check_fields(spec->path, err))
        return false;
    if (binding->name)
        return irrun_model_find_output(outputs->model, binding->name, &index, err) &&
               add_destination(outputs, spec, &index, 1, err);
    if (has_field(spec->path, 'n')) {
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

static bool check_collisions(const struct outputs *outputs, struct irrun_error *err)
{
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
    if (options->outputs.n == 0 && options->expected.n == 0) {
        struct binding standard = {.name = NULL};
        if (!format_parse_destination("text:-", &standard.spec, err) ||
            !add_binding(made, &standard, err))
            return false;
    }
    return check_collisions(made, err);
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
                             const struct irrun_session *session, bool is_stacked,
                             struct irrun_error *err)
{
    bool is_terminal = strcmp(item->path, "-") == 0 && isatty(STDOUT_FILENO);
    struct writer_options how = {.names = item->names,
                                 .n_outputs = item->n_outputs,
                                 .layout = is_stacked ? WRITER_STACK : WRITER_ONE,
                                 .is_text_variant = item->spec.is_text_variant,
                                 .is_summarised = is_terminal,
                                 .is_flushed = is_terminal};
    char *path = fill_field(item->path, 'k', outputs->key, true);
    if (!path)
        return fail_memory(err, strlen(item->path));
    bool is_open = writer_open(item->spec.format, path, &how, &item->writer, err);
    tell(outputs->options, "%zu of %zu outputs to %s as %s, %s", item->n_outputs,
         irrun_model_n_outputs(outputs->model), path, item->spec.format->name,
         is_stacked ? "every iteration" : "one record");
    free(path);
    for (size_t i = 0; i < item->n_outputs && is_open; i++) {
        const struct irrun_tensor *form = irrun_session_output(session, item->output_ids[i]);
        if (form)
            writer_expect(item->writer, i, form->dtype, &form->shape);
    }
    return is_open;
}

bool outputs_begin_sequence(struct outputs *outputs, const struct sequence *sequence,
                            const struct irrun_session *session, bool is_stacked,
                            struct irrun_error *err)
{
    outputs->key = sequence->key;
    for (size_t i = 0; i < outputs->n; i++) {
        struct destination *item = &outputs->items[i];
        if (!item->writer && !is_none(outputs, item) &&
            !open_destination(outputs, item, session, is_stacked, err))
            return false;
    }
    return true;
}

bool outputs_write(struct outputs *outputs, const struct irrun_session *session, uint64_t index,
                   struct irrun_error *err)
{
    struct record_label label = {.sequence = outputs->key, .index = index};
    for (size_t i = 0; i < outputs->n; i++) {
        const struct destination *item = &outputs->items[i];
        for (size_t j = 0; j < item->n_outputs && item->writer; j++) {
            const struct irrun_tensor *record = irrun_session_output(session, item->output_ids[j]);
            if (!writer_write(item->writer, j, record, &label, err))
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
