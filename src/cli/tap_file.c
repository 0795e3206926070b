/* Writes every tensor of an iteration under a unique name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/tap_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formats/format.h"

struct named_output {
    const char *name;
    size_t index;
};

static int compare_names(const void *a, const void *b)
{
    const struct named_output *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int compare_name(const void *name, const void *item)
{
    return strcmp(name, ((const struct named_output *)item)->name);
}

static bool make_unique(const char **names, size_t n, struct arena *arena, struct irrun_error *err)
{
    struct named_output *sorted = arena_alloc_array(arena, n + 1, sizeof *sorted, err);
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct named_output){names[i], i};
    qsort(sorted, n, sizeof *sorted, compare_names);
    for (size_t i = 1, suffix = 1; i < n; i++) {
        if (strcmp(sorted[i].name, sorted[i - 1].name) != 0) {
            suffix = 1;
            continue;
        }
        size_t size_bytes = strlen(sorted[i].name) + 24;
        char *name = arena_alloc(arena, size_bytes, err);
        if (!name)
            return false;
        do
            snprintf(name, size_bytes, "%s~%zu", sorted[i].name, ++suffix);
        while (bsearch(name, sorted, n, sizeof *sorted, compare_name));
        names[sorted[i].index] = name;
    }
    return true;
}

bool tap_file_names(const struct irrun_model *model, struct arena *arena, const char ***names,
                    struct irrun_error *err)
{
    size_t n = irrun_model_n_outputs(model);
    *names = arena_alloc_array(arena, n + 1, sizeof **names, err);
    for (size_t i = 0; i < n && *names; i++)
        (*names)[i] = irrun_model_output(model, i)->name;
    return *names && make_unique(*names, n, arena, err);
}

struct tap_file {
    struct arena arena; /* holds `names` and `outputs` */
    const char **names;
    size_t *outputs; /* [n] indices among the outputs of the model */
    size_t n;
    struct writer *writer;
};

static bool list_outputs(struct tap_file *file, const struct irrun_model *model,
                         const struct irrun_session *session, struct irrun_error *err)
{
    size_t n_outputs = irrun_model_n_outputs(model);
    if (!tap_file_names(model, &file->arena, &file->names, err))
        return false;
    file->outputs = arena_alloc_array(&file->arena, n_outputs + 1, sizeof *file->outputs, err);
    for (size_t i = 0; i < n_outputs && file->outputs; i++) {
        const struct irrun_tensor *value = irrun_session_output(session, i);
        if (!value || !value->data)
            continue;
        file->names[file->n] = file->names[i];
        file->outputs[file->n++] = i;
    }
    return file->outputs != NULL;
}

bool tap_file_open(const char *path, const struct irrun_model *model,
                   const struct irrun_session *session, bool is_stacked, bool is_synced,
                   struct tap_file **file, struct irrun_error *err)
{
    struct tap_file *made = *file = new_array(1, sizeof *made, err);
    if (!made || !list_outputs(made, model, session, err))
        return false;
    const struct writer_options options = {.names = made->names,
                                           .n_outputs = made->n,
                                           .layout = is_stacked ? WRITER_STACK : WRITER_ONE,
                                           .is_synced = is_synced};
    return writer_open(format_find("npz"), path, &options, &made->writer, err);
}

bool tap_file_add(struct tap_file *file, const struct irrun_session *session,
                  struct irrun_error *err)
{
    const struct record_label label = {.sequence = "-"};
    for (size_t i = 0; i < file->n; i++) {
        const struct irrun_tensor *value = irrun_session_output(session, file->outputs[i]);
        if (!writer_write(file->writer, i, value, &label, err))
            return false;
    }
    return writer_end_record(file->writer, err);
}

bool tap_file_finish(struct tap_file *file, struct irrun_error *err)
{
    if (!file)
        return true;
    struct writer *writer = file->writer;
    file->writer = NULL;
    return writer_finish(writer, err);
}

void tap_file_free(struct tap_file *file)
{
    if (!file)
        return;
    writer_abort(file->writer);
    arena_free(&file->arena);
    free(file);
}
