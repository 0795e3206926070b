/* Gathers the tensors of an iteration and gives each a name of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/tensor_file.h"

struct named {
    const char *name;
    size_t index;
};

static int compare_names(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Names in the order of the outputs; further ones of a kind live in the arena. */
static bool make_unique(const char **names, size_t n, struct arena *arena, struct irrun_error *err)
{
    struct named *sorted = arena_alloc_array(arena, n + 1, sizeof *sorted, err);
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct named){names[i], i};
    qsort(sorted, n, sizeof *sorted, compare_names);
    for (size_t i = 1, n_same = 1; i < n; i++) {
        n_same = strcmp(sorted[i].name, sorted[i - 1].name) == 0 ? n_same + 1 : 1;
        if (n_same == 1)
            continue;
        size_t size_bytes = strlen(sorted[i].name) + 24;
        char *name = arena_alloc(arena, size_bytes, err);
        if (!name)
            return false;
        snprintf(name, size_bytes, "%s~%zu", sorted[i].name, n_same);
        names[sorted[i].index] = name;
    }
    return true;
}

bool trace_write(const char *path, const struct irrun_model *model,
                 const struct irrun_session *session, bool is_synced, struct irrun_error *err)
{
    const struct writer_options how = {.is_synced = is_synced};
    struct arena arena = {.blocks = NULL};
    size_t n_outputs = irrun_model_n_outputs(model), n = 0;
    const char **names = arena_alloc_array(&arena, n_outputs + 1, sizeof(char *), err);
    const struct irrun_tensor **values =
        arena_alloc_array(&arena, n_outputs + 1, sizeof(struct irrun_tensor *), err);
    for (size_t i = 0; i < n_outputs && names && values; i++) {
        const struct irrun_tensor *value = irrun_session_output(session, i);
        if (!value || !value->data)
            continue;
        names[n] = irrun_model_output(model, i)->name;
        values[n++] = value;
    }
    bool is_written = names && values && make_unique(names, n, &arena, err) &&
                      tensor_file_write(path, names, values, n, &how, err);
    arena_free(&arena);
    return is_written;
}
