/* Unique-10: outputs the unique elements (or slices along an axis), the index of the first
 * occurrence of each, the position of every input element among the unique ones, and the counts.
 * infer computes all indices and counts, because the shapes depend on them; run writes the outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/sort_keys.h"
#include "ops/indexing.h"

enum { DATA, AXIS };
enum { UNIQUE, FIRST, REVERSE, COUNTS, N_OUTPUTS };

struct unique_attrs {
    bool sorted;
    enum irrun_dtype index_element_type, count_element_type;
};

struct unique_state {
    struct axis_view view;
    int64_t n_unique;
    int64_t *first, *counts; /* [n_unique] */
    int64_t *reverse;        /* [view.n] */
};

static const struct attr_def attr_table[] = {
    ATTR(struct unique_attrs, sorted, "true"),
    ATTR(struct unique_attrs, index_element_type, "i64"),
    ATTR(struct unique_attrs, count_element_type, "i64"),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER | TYPES_BOOLEAN},
    {"axis", .types = TYPES_INTEGER, .is_optional = true},
};

struct slices {
    struct axis_view view;
    const uint64_t *keys;
};

/* Compares slices a and b in lexicographic order. Returns a number < 0, 0 or > 0. */
static int compare(const struct slices *slices, size_t a, size_t b)
{
    const struct axis_view *view = &slices->view;
    size_t n_inner = (size_t)view->n_inner;
    for (size_t outer = 0; outer < (size_t)view->n_outer; outer++) {
        const uint64_t *row = slices->keys + outer * (size_t)view->n * n_inner;
        for (size_t i = 0; i < n_inner; i++) {
            uint64_t x = row[a * n_inner + i], y = row[b * n_inner + i];
            if (x != y)
                return x < y ? -1 : 1;
        }
    }
    return 0;
}

static bool is_before(const void *context, size_t a, size_t b)
{
    return compare(context, a, b) < 0;
}

/* Numbers the groups of equal slices in sorted order. */
static void number_groups(const struct slices *slices, const size_t *order,
                          struct unique_state *state)
{
    size_t n = (size_t)state->view.n;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare(slices, order[i - 1], order[i]) != 0) {
            state->first[state->n_unique] = (int64_t)order[i];
            state->counts[state->n_unique++] = 0;
        }
        state->reverse[order[i]] = state->n_unique - 1;
        state->counts[state->n_unique - 1]++;
    }
}

/* Renumbers the groups in the order of their first occurrence. */
static void number_by_first(struct unique_state *state, int64_t *new_number)
{
    int64_t n_seen = 0;
    for (int64_t i = 0; i < state->n_unique; i++) {
        new_number[i] = -1;
        state->counts[i] = 0;
    }
    for (int64_t i = 0; i < state->view.n; i++) {
        int64_t *number = &new_number[state->reverse[i]];
        if (*number < 0) {
            *number = n_seen++;
            state->first[*number] = i;
        }
        state->reverse[i] = *number;
        state->counts[*number]++;
    }
}

static bool find_unique(struct infer *infer, const struct irrun_tensor *data)
{
    struct unique_state *state = infer->state;
    size_t n = (size_t)state->view.n, n_elements = (size_t)shape_n_elements(&data->shape);
    uint64_t *keys = arena_alloc_array(infer->arena, n_elements, sizeof *keys, infer->err);
    size_t *order = arena_alloc_array(infer->arena, n, sizeof *order, infer->err);
    size_t *spare = arena_alloc_array(infer->arena, n, sizeof *spare, infer->err);
    int64_t *lists = arena_alloc_array(infer->arena, n, 4 * sizeof *lists, infer->err);
    if (!keys || !order || !spare || !lists)
        return false;
    state->first = lists;
    state->counts = lists + n;
    state->reverse = lists + 2 * n;
    sort_keys(data->dtype, data->data, 1, n_elements, keys);
    struct slices slices = {state->view, keys};
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    argsort(order, n, spare, is_before, &slices);
    number_groups(&slices, order, state);
    if (!((const struct unique_attrs *)infer->attrs)->sorted)
        number_by_first(state, lists + 3 * n);
    return true;
}

static bool infer(struct infer *infer)
{
    const struct unique_attrs *attrs = infer->attrs;
    struct unique_state *state = infer->state;
    struct irrun_shape out = infer->in[DATA]->shape;
    uint32_t axis = 0;
    *state = (struct unique_state){.view = {1, shape_n_elements(&out), 1}};
    if (infer->n_inputs > AXIS) {
        int64_t given = 0;
        if (!infer_int(infer, AXIS, &given) || !infer_axis(infer, given, out.rank, &axis))
            return false;
        state->view = axis_view_of(&out, axis);
    } else {
        out.rank = 1;
    }
    if (!infer_index_type(infer, "index_element_type", attrs->index_element_type) ||
        !infer_index_type(infer, "count_element_type", attrs->count_element_type))
        return false;
    const struct irrun_tensor *data = infer_value(infer, DATA);
    if (!data || !find_unique(infer, data))
        return false;
    out.dims[axis] = state->n_unique;
    struct irrun_shape list = shape_of(1, &state->n_unique);
    struct irrun_shape all = shape_of(1, &state->view.n);
    return infer_output(infer, UNIQUE, infer->in[DATA]->dtype, &out) &&
           infer_output(infer, FIRST, attrs->index_element_type, &list) &&
           infer_output(infer, REVERSE, attrs->index_element_type, &all) &&
           infer_output(infer, COUNTS, attrs->count_element_type, &list);
}

static void run(const struct step *step)
{
    const struct unique_state *state = step->state;
    size_t slice_bytes = (size_t)state->view.n_inner * dtype_size(step->in[DATA]->dtype);
    const char *from = step->in[DATA]->data;
    char *to = step->out[UNIQUE]->data;
    bool is_empty = shape_n_elements(&step->out[UNIQUE]->shape) == 0;
    for (int64_t outer = 0; !is_empty && outer < state->view.n_outer; outer++) {
        for (int64_t i = 0; i < state->n_unique; i++, to += slice_bytes)
            memcpy(to, from + (size_t)state->first[i] * slice_bytes, slice_bytes);
        from += (size_t)state->view.n * slice_bytes;
    }
    const int64_t *lists[N_OUTPUTS] = {NULL, state->first, state->reverse, state->counts};
    for (uint32_t k = FIRST; k < N_OUTPUTS; k++)
        convert_elements(IRRUN_I64, lists[k], step->out[k]->dtype, step->out[k]->data,
                         (size_t)shape_n_elements(&step->out[k]->shape));
}

const struct op_def op_unique = {
    .type = "Unique",
    .opset = 10,
    .flags = OP_DATA_MOVEMENT,
    OP_INPUTS(inputs),
    .n_outputs = N_OUTPUTS,
    OP_ATTRS(attr_table, struct unique_attrs),
    .state_size = sizeof(struct unique_state),
    .infer = infer,
    .compute = run,
};
