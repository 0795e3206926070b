/* Makes the list of destinations from the command line and the model's outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/destination.h"

#include <stdlib.h>
#include <string.h>

#include "cli/all_outputs.h"
#include "cli/bind.h"
#include "cli/path_fields.h"
#include "formats/joiner.h"

/* Adds a destination for n outputs, starting at index `first`. */
static bool add_destination(struct destination_list *list, const struct format_spec *spec,
                            size_t first, size_t n, struct irrun_error *err)
{
    if (!GROW_ARRAY(list->items, list->n, list->capacity, err))
        return false;
    struct destination *made = &list->items[list->n++];
    *made = (struct destination){.spec = *spec, .first_output = first, .n_outputs = n};
    made->is_per_sequence = list->is_from_manifest || path_has_field(spec->path, 'k');
    made->names = new_array(n, sizeof(char *), err);
    for (size_t i = 0; i < n && made->names; i++)
        made->names[i] = all_outputs_name(list->model, list->options, first + i);
    return made->names &&
           path_fill_field(spec->path, 'n', n > 0 ? made->names[0] : "", false, &made->path, err);
}

/* Checks that outputs in one file have different names, unless the format is text or none. */
static bool check_names(const struct destination *item, struct irrun_error *err)
{
    const char *format = item->spec.format->name;
    if (strcmp(format, "text") == 0 || strcmp(format, "none") == 0)
        return true;
    for (size_t i = 1; i < item->n_outputs; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(item->names[i], item->names[k]) != 0)
                continue;
            fail(err, IRRUN_USAGE, "-o %s: outputs @%zu and @%zu are both named \"%s\"",
                 item->spec.text, k, i, item->names[i]);
            return fail_hint(err, "-o @%zu=FILE -o @%zu=FILE writes each to its own file", k, i);
        }
    }
    return true;
}

static bool fail_needs_name(const struct destination_list *list, const struct format_spec *spec,
                            struct irrun_error *err)
{
    const char *text = spec->text, *format = spec->format->name;
    size_t n = n_default_outputs(list->model);
    fail(err, IRRUN_USAGE, "-o %s: %s holds one output, but the model has", text, format);
    if (n == 0)
        return fail_append(err, " none");
    for (size_t i = 0; i < n; i++)
        fail_append(err, "%s \"%s\"", i == 0 ? "" : ",", irrun_model_output(list->model, i)->name);
    const char *file = strrchr(text, '/');
    size_t n_directory = file && strchr(text, '%') ? (size_t)(file + 1 - text) : 0;
    return fail_hint(err,
                     "-o %s=%s writes one of them, -o text:- all of them, -o %.*s%%n.%s each to "
                     "its own file",
                     irrun_model_output(list->model, 0)->name, text, (int)n_directory, text,
                     strchr(text, '%') ? text + n_directory : format);
}

bool destination_add(struct destination_list *list, const struct binding *binding,
                     struct irrun_error *err)
{
    const struct format_spec *spec = &binding->spec;
    struct irrun_error ignored;
    size_t n = n_default_outputs(list->model), index;
    if (!path_check_fields("-o ", spec->path, "kn", err) ||
        !writer_check_path(spec->format, spec->path, err))
        return false;
    if (binding->name && !all_outputs_find(list->model, list->options, binding->name, &index, err))
        return irrun_model_find_input(list->model, binding->name, &index, &ignored)
                   ? fail_hint(err, "\"%s\" is an input; only inputs of --feed can be written",
                               binding->name)
                   : fail_hint(err, "--tap=NAME makes a tensor an output; --list-ops lists them");
    if (binding->name)
        return add_destination(list, spec, index, 1, err);
    if (path_has_field(spec->path, 'n')) {
        for (size_t i = 0; i < n; i++)
            if (!add_destination(list, spec, i, 1, err))
                return false;
        return true;
    }
    if (n != 1 && !spec->format->is_shared)
        return fail_needs_name(list, spec, err);
    return add_destination(list, spec, 0, n, err) && check_names(&list->items[list->n - 1], err);
}

/* Finds the axis of --concat for a destination. All outputs in one file must be concatenated along
 * the same axis, or not at all. */
static bool resolve_concat(const struct destination_list *list, struct destination *item,
                           struct irrun_error *err)
{
    for (size_t i = 0; i < item->n_outputs; i++) {
        const struct axis_spec *concat =
            named_find(NAMED_LIST(list->options->concats), list->model, irrun_model_find_output,
                       item->first_output + i);
        bool is_same = concat == item->concat ||
                       (concat && item->concat && concat->axis == item->concat->axis);
        if (i > 0 && !is_same)
            return fail(
                err, IRRUN_USAGE,
                "--concat: outputs \"%s\" and \"%s\" are joined along different axes, but both go "
                "to %s",
                item->names[0], item->names[i], item->path);
        item->concat = concat;
    }
    return true;
}

/* Fails if several sequences write to the file of a destination but its format cannot hold them. */
static bool check_sharing(const struct destination_list *list, const struct destination *item,
                          struct irrun_error *err)
{
    const struct format *format = item->spec.format;
    bool holds_one_sequence =
        format->has_names || (item->concat && format->has_shape && !format->has_keys);
    if (!holds_one_sequence || list->is_from_manifest || item->is_per_sequence ||
        !sequences_are_many(list->options))
        return true;
    fail(err, IRRUN_USAGE, "-o %s: %s cannot hold several sequences%s", item->spec.text,
         format->name, item->concat ? " whose records are joined" : "");
    return fail_hint(err, "use %%k in the file name to write one file for each");
}

/* Checks that the output has the axis, if its shape is known. */
static bool check_axis(const struct destination_list *list, size_t output,
                       const struct irrun_tensor *value, const struct axis_spec *concat,
                       struct irrun_error *err)
{
    const char *name = all_outputs_name(list->model, list->options, output);
    return !value || joiner_check_axis(&value->shape, (int)concat->axis, name, err);
}

/* Checks that at least one output has the axis, unless the shape of an output is unknown. */
static bool check_common_axis(const struct destination_list *list,
                              const struct irrun_tensor *const *values,
                              const struct axis_spec *concat, struct irrun_error *err)
{
    size_t n = n_default_outputs(list->model), highest = 0;
    for (size_t i = 0; i < n; i++) {
        if (!values[i])
            return true;
        if (values[i]->shape.rank > values[highest]->shape.rank)
            highest = i;
    }
    return n == 0 || check_axis(list, highest, values[highest], concat, err);
}

bool destinations_check_axes(const struct destination_list *list,
                             const struct irrun_tensor *const *values, struct irrun_error *err)
{
    const struct axis_list *concats = &list->options->concats;
    for (size_t i = 0; i < list->n && concats->n > 0; i++) {
        const struct destination *item = &list->items[i];
        for (size_t j = 0; j < item->n_outputs && item->concat; j++) {
            size_t output = item->first_output + j;
            if (!check_axis(list, output, values[output], item->concat, err))
                return false;
        }
    }
    for (size_t i = 0; i < concats->n; i++) {
        const struct axis_spec *concat = &concats->items[i];
        size_t output;
        if (concat->name) {
            if (!irrun_model_find_output(list->model, concat->name, &output, err) ||
                !check_axis(list, output, values[output], concat, err))
                return false;
        } else if (list->n == 0 && !check_common_axis(list, values, concat, err)) {
            return false;
        }
    }
    return true;
}

bool destinations_check(struct destination_list *list, struct irrun_error *err)
{
    if (!named_check(NAMED_LIST(list->options->concats), list->model, irrun_model_find_output, err))
        return false;
    for (size_t i = 0; i < list->n; i++)
        if (!resolve_concat(list, &list->items[i], err) ||
            !check_sharing(list, &list->items[i], err))
            return false;
    return true;
}

void destinations_free(struct destination_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct destination *item = &list->items[i];
        writer_abort(item->writer);
        free(item->path);
        free(item->names);
    }
    free(list->items);
    list->items = NULL;
    list->n = list->capacity = 0;
}

bool destination_is_none(const struct destination_list *list, const struct destination *item)
{
    return list->options->emit == EMIT_NONE || strcmp(item->spec.format->name, "none") == 0;
}

bool destination_needs_keys(const struct destination *item)
{
    const struct format *format = item->spec.format;
    return format->has_keys && format->can_read && strcmp(item->path, "-") != 0;
}

bool destinations_visit(const struct destination_list *list, const struct sequence *sequence,
                        output_path_fn *visit, void *context, struct irrun_error *err)
{
    bool is_done = true;
    for (size_t i = 0; i < list->n && is_done; i++) {
        const struct destination *item = &list->items[i];
        bool is_keyed = sequence && !item->is_per_sequence && destination_needs_keys(item);
        char *path;
        if (destination_is_none(list, item) ||
            (item->is_per_sequence != (sequence != NULL) && !is_keyed))
            continue;
        if (!path_fill_field(item->path, 'k', sequence ? sequence->key : "", true, &path, err))
            return false;
        const struct output_path output = {path, is_keyed ? sequence->key : NULL};
        is_done = visit(context, &output, err);
        free(path);
    }
    return is_done;
}
