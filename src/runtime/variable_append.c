/* Appends to variables: writes the new elements after each row of the current buffer, where the
 * stride of the rows leaves room. The old value stays valid until the iteration is committed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/indexing.h"
#include "runtime/runner.h"

/* The inputs of the step. INDICES: the indices of the Gather, if there is one. */
enum { OLD_VALUE, ADDED, INDICES };

/* Moves rows so that their stride changes from `from` to `to` bytes. */
static void move_rows(char *data, size_t n_rows, size_t row_bytes, size_t from, size_t to)
{
    if (from == to || row_bytes == 0)
        return;
    for (size_t i = 1; i < n_rows; i++) {
        size_t row = to < from ? i : n_rows - i;
        memmove(data + row * to, data + row * from, row_bytes);
    }
}

void variable_pack(struct variable *variable)
{
    struct variable_rows *rows = &variable->rows;
    if (rows->stride_bytes == 0)
        return;
    size_t row_bytes = tensor_n_bytes(&variable->value) / rows->n;
    move_rows(variable->buffers[variable->current], rows->n, row_bytes, rows->stride_bytes,
              row_bytes);
    rows->stride_bytes = 0;
}

void variables_pack(struct variables *variables, const struct variable_use *uses, size_t n_uses)
{
    for (size_t i = 0; i < n_uses; i++)
        if (!uses[i].is_append)
            variable_pack(&variables->items[uses[i].variable]);
}

bool run_assign_unchanged(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct variable_step *state = step->state;
    struct variable *variable = &step->session->variables.items[state->variable];
    variable->written = *step->in[0];
    variable->written_rows = variable->rows;
    variable->is_moved = false;
    variable->is_written = variable->is_appended = true;
    return true;
}

/* ---- the step -------------------------------------------------------------------------------- */

/* Returns the group of rows that index i selects; NO_ID if the index is out of range, which selects
 * zeros. */
static uint32_t selected_group(const struct append *append, const struct irrun_tensor *indices,
                               size_t i)
{
    int64_t index = element_as_i64(indices->dtype, indices->data, i);
    int64_t n = (int64_t)(append->old_rows / append->rows_per_index);
    index += index < 0 ? n : 0;
    return index >= 0 && index < n ? (uint32_t)index : NO_ID;
}

static bool selects_all_in_order(const struct append *append, const struct irrun_tensor *indices)
{
    if (append->old_rows != append->n_rows)
        return false;
    for (size_t i = 0; i < append->n_rows / append->rows_per_index; i++)
        if (selected_group(append, indices, i) != i)
            return false;
    return true;
}

/* Warns that index k is out of range, as the Gather would. */
static void warn_zeros(const struct step *step, size_t k)
{
    const struct append *append = step->state;
    struct step gather = *step;
    gather.op = value_producer(step->graph, op_input(step->graph, step->op, 0));
    gather.in = step->in + INDICES - 1; /* the indices are input 1 of a Gather */
    index_warn_zeros(&gather, k, (int64_t)(append->old_rows / append->rows_per_index));
}

static void copy_selected(const struct step *step, const char *from, size_t from_bytes, char *to)
{
    const struct append *append = step->state;
    const struct irrun_tensor *indices = step->in[INDICES];
    for (size_t row = 0; row < append->n_rows; row++, to += append->stride_bytes) {
        uint32_t group = selected_group(append, indices, row / append->rows_per_index);
        size_t source = group * append->rows_per_index + row % append->rows_per_index;
        if (group == NO_ID) {
            memset(to, 0, append->old_bytes);
            warn_zeros(step, row / append->rows_per_index);
        } else {
            memcpy(to, from + source * from_bytes, append->old_bytes);
        }
    }
}

static void append_to_rows(const struct append *append, const char *added, char *to)
{
    to += append->old_bytes;
    for (size_t row = 0; row < append->n_rows; row++)
        memcpy(to + row * append->stride_bytes, added + row * append->added_bytes,
               append->added_bytes);
}

bool run_append(const struct step *step, struct irrun_error *err)
{
    const struct append *append = step->state;
    struct variable *variable = &step->session->variables.items[append->variable];
    const struct irrun_tensor *indices = step->n_inputs > INDICES ? step->in[INDICES] : NULL;
    size_t stride = variable->rows.stride_bytes,
           from_bytes = stride > 0 ? stride : append->old_bytes;
    variable->is_moved = append->old_bytes > 0 && indices && !selects_all_in_order(append, indices);
    if (variable->is_moved) {
        if (!variable_grow(variable, variable->next, append->n_rows * append->stride_bytes, 0, err))
            return false;
        copy_selected(step, variable->buffers[variable->current], from_bytes,
                      variable->buffers[variable->next]);
    } else {
        move_rows(variable->buffers[variable->current], append->n_rows, append->old_bytes,
                  from_bytes, append->stride_bytes);
        variable->rows = (struct variable_rows){append->n_rows, append->stride_bytes};
        step->session->variables.has_strided = true;
    }
    char *to = variable->buffers[variable->is_moved ? variable->next : variable->current];
    append_to_rows(append, step->in[ADDED]->data, to);
    step->out[0]->data = to;
    variable->written = *step->out[0];
    variable->written_rows = (struct variable_rows){append->n_rows, append->stride_bytes};
    variable->is_written = variable->is_appended = true;
    return true;
}

void variable_commit_append(struct variable *variable)
{
    if (variable->is_moved) {
        variable->committed = variable->next;
        variable->next = variable->current;
        variable->current = variable->committed;
    }
    variable->rows = variable->written_rows;
    variable->value = variable->written;
    variable->is_set = true;
    variable->is_written = variable->is_appended = false;
}
