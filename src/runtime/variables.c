/* Reads, writes and commits the variables of a session. A commit swaps buffers; memory is allocated
 * only for a variable that grows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/runner.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/huge_pages.h"

bool variables_new(struct variables *variables, const struct model *model, struct irrun_error *err)
{
    uint32_t n = model->n_variables;
    *variables = (struct variables){.n = n, .n_unset = n};
    variables->items = new_array(n, sizeof *variables->items, err);
    variables->states = new_array(n, sizeof *variables->states, err);
    if (!variables->items || !variables->states)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        variables->items[i].decl = &model->variables[i];
        variables->items[i].next = 1;
    }
    return true;
}

void variables_free(struct variables *variables)
{
    for (uint32_t i = 0; variables->items && i < variables->n; i++)
        for (int b = 0; b < 3; b++)
            free(variables->items[i].buffers[b]);
    free(variables->items);
    free(variables->states);
    *variables = (struct variables){0};
}

bool variable_grow(struct variable *variable, uint8_t buffer, size_t size_bytes,
                   size_t preferred_bytes, struct irrun_error *err)
{
    void **data = &variable->buffers[buffer];
    size_t *capacity = &variable->capacity[buffer], old = *capacity;
    if (*data && old >= size_bytes)
        return true;
    void *grown = huge_alloc_at_least(0, size_bytes, preferred_bytes, capacity, err);
    if (!grown) {
        *capacity = old;
        return false;
    }
    if (*data)
        memcpy(grown, *data, old);
    free(*data);
    *data = grown;
    return true;
}

/* Makes room in every buffer that may be used. An append uses only the current buffer. Doubles the
 * size if there is enough memory. */
static bool reserve(struct variable *variable, size_t size_bytes, bool is_append,
                    struct irrun_error *err)
{
    const struct variable_decl *decl = variable->decl;
    bool is_written_in_body = decl->assign && decl->assign_graph->path[0] != '\0';
    for (uint8_t b = 0; b < 3; b++) {
        bool is_used =
            is_written_in_body || b == variable->current || (b == variable->next && !is_append);
        size_t preferred = 0;
        if (!is_append && !checked_mul(variable->capacity[b], 2, &preferred))
            preferred = 0;
        if (is_used && !variable_grow(variable, b, size_bytes, preferred, err))
            return false;
    }
    variable->value.data = variable->buffers[variable->current];
    return true;
}

bool variables_reserve(struct variables *variables, const struct variable_use *uses, size_t n_uses,
                       struct irrun_error *err)
{
    for (size_t i = 0; i < n_uses; i++)
        if (!reserve(&variables->items[uses[i].variable], uses[i].size_bytes, uses[i].is_append,
                     err))
            return false;
    return true;
}

/* Copies the initial value. This step runs only in iterations that start from initial values. */
bool run_read_value(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct variable_step *state = step->state;
    struct variable *variable = &step->session->variables.items[state->variable];
    size_t size_bytes = tensor_n_bytes(step->out[0]);
    if (!variable->is_set)
        variable->rows.stride_bytes = 0;
    if (variable->is_set || size_bytes == 0)
        return true;
    if (step->n_inputs > 0)
        memcpy(variable->value.data, step->in[0]->data, size_bytes);
    else
        memset(variable->value.data, 0, size_bytes);
    return true;
}

/* Returns whether type and shape are equal. For a few dimensions this is faster than
 * shape_equals. */
static bool has_same_shape(const struct irrun_tensor *a, const struct irrun_tensor *b)
{
    if (a->dtype != b->dtype || a->shape.rank != b->shape.rank)
        return false;
    for (uint32_t i = 0; i < a->shape.rank; i++)
        if (a->shape.dims[i] != b->shape.dims[i])
            return false;
    return true;
}

bool run_assign(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct variable_step *state = step->state;
    struct variable *variable = &step->session->variables.items[state->variable];
    if (!has_same_shape(&variable->written, step->in[0]))
        variable->written = *step->in[0];
    variable->written.data = variable->buffers[variable->next];
    if (step->flat.n > 0)
        memcpy(variable->written.data, step->data[0], step->flat.n);
    variable->is_written = true;
    return true;
}

static void update_state(struct variables *variables, uint32_t index)
{
    const struct variable *variable = &variables->items[index];
    struct variable_state *state = &variables->states[index];
    if (state->is_set != variable->is_set || state->dtype != variable->value.dtype ||
        !shape_equals(&state->shape, &variable->value.shape))
        variables->is_shape_changed = true;
    variables->n_unset += (uint32_t)state->is_set - (uint32_t)variable->is_set;
    *state = (struct variable_state){variable->is_set, variable->value.dtype, variable->value.shape,
                                     variable->capacity[variable->current]};
}

void variables_advance(struct variables *variables)
{
    for (uint32_t i = 0; i < variables->n; i++) {
        struct variable *variable = &variables->items[i];
        if (!variable->is_written)
            continue;
        if (!variable->is_ahead) {
            variable->before = variable->value;
            variable->was_set = variable->is_set;
            variable->is_ahead = true;
        }
        variable->is_written = false;
        variable->is_set = true;
        variable->value = variable->written;
        variable->current = variable->next;
        variable->next = (uint8_t)(3 - variable->current - variable->committed);
        if (variable->current == variable->committed)
            variable->next = (uint8_t)((variable->current + 1) % 3);
        update_state(variables, i);
    }
}

/* Commits a new value in the common case: the same type and shape, outside of bodies. Returns false
 * in other cases. */
static bool commit_by_swap(struct variable *variable)
{
    if (!variable->is_written || variable->is_ahead || !variable->is_set ||
        !has_same_shape(&variable->written, &variable->value))
        return false;
    variable->is_written = false;
    variable->value.data = variable->written.data;
    variable->current = variable->next;
    variable->next = variable->committed;
    variable->committed = variable->current;
    return true;
}

void variables_commit(struct variables *variables)
{
    bool is_done = true;
    for (uint32_t i = 0; i < variables->n; i++) {
        struct variable *variable = &variables->items[i];
        if (variable->is_appended) {
            variable_commit_append(variable);
            update_state(variables, i);
            variables->has_strided = true;
            continue;
        }
        is_done &= commit_by_swap(variable);
    }
    if (is_done)
        return;
    variables_advance(variables);
    for (uint32_t i = 0; i < variables->n; i++) {
        struct variable *variable = &variables->items[i];
        if (!variable->is_ahead)
            continue;
        variable->is_ahead = false;
        variable->next = variable->committed;
        variable->committed = variable->current;
    }
}

void variables_roll_back(struct variables *variables)
{
    for (uint32_t i = 0; i < variables->n; i++) {
        struct variable *variable = &variables->items[i];
        variable->is_written = variable->is_appended = false;
        if (!variable->is_ahead)
            continue;
        variable->is_ahead = false;
        variable->next = variable->current;
        variable->current = variable->committed;
        variable->value = variable->before;
        variable->is_set = variable->was_set;
        update_state(variables, i);
    }
}

void variables_reset(struct variables *variables)
{
    for (uint32_t i = 0; i < variables->n; i++) {
        variables->items[i].is_set = false;
        update_state(variables, i);
    }
}

bool variable_set(struct variables *variables, uint32_t index, const struct irrun_tensor *tensor,
                  struct irrun_error *err)
{
    struct variable *variable = &variables->items[index];
    size_t size_bytes = tensor_n_bytes(tensor);
    if (!reserve(variable, size_bytes, true, err))
        return false;
    variable->rows.stride_bytes = 0;
    if (size_bytes > 0)
        memcpy(variable->buffers[variable->current], tensor->data, size_bytes);
    variable->value = *tensor;
    variable->value.data = variable->buffers[variable->current];
    variable->is_set = true;
    update_state(variables, index);
    return true;
}
