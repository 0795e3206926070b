/* Gather-1, -7 and -8: slices of the data along an axis, selected by an index tensor. The versions
 * differ in batch_dims and in how they treat indices out of range.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/index_copies.h"
#include "ops/op_state.h"

enum { DATA, INDICES, AXIS };

/* The data is [n_batches][n_outer][axis_dim][slice], the indices are [n_batches][n_indices]. */
struct gather_state {
    struct index_copies copies;
    int64_t n_batches, n_outer, axis_dim, n_indices;
    int64_t n_slice; /* elements */
    uint32_t axis;
    int64_t first; /* the first index if the indices are constant and consecutive; otherwise -1 */
};

static const struct attr_def attr_table[] = {ATTR(struct gather_attrs, batch_dims, "0")};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"indices", .types = TYPES_INTEGER},
    {"axis", .types = TYPES_INTEGER},
};

static bool infer_batch_dims(struct infer *infer, uint32_t *n_batch_dims)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape, *indices = &infer->in[INDICES]->shape;
    const struct gather_state *state = infer->state;
    int64_t given = ((const struct gather_attrs *)infer->attrs)->batch_dims;
    int64_t n = given + (given < 0 ? indices->rank : 0);
    if (n < 0 || n > indices->rank || n > state->axis)
        return infer_fail(infer,
                          "batch_dims is %lld, but axis is %u and indices have %u dimensions",
                          (long long)given, state->axis, indices->rank);
    for (uint32_t i = 0; i < n; i++) {
        if (data->dims[i] != indices->dims[i])
            return infer_fail_input(infer, INDICES,
                                    "dimension %u to match the data (batch_dims is %lld)", i,
                                    (long long)given);
    }
    *n_batch_dims = (uint32_t)n;
    return true;
}

/* Sets `first` if the output can be a view. */
static bool find_first(struct infer *infer, struct gather_state *state)
{
    state->first = -1;
    if (!infer->plan || !infer->is_constant[INDICES] || state->n_batches * state->n_outer != 1)
        return true;
    const struct irrun_tensor *indices = infer_value(infer, INDICES);
    if (!indices)
        return false;
    int64_t first = -1;
    for (int64_t k = 0; k < state->n_indices; k++) {
        int64_t index = index_normalize(element_as_i64(indices->dtype, indices->data, (size_t)k),
                                        state->axis_dim);
        first = k == 0 ? index : first;
        if (index < 0 || index != first + k)
            return true;
    }
    state->first = first;
    return true;
}

static bool infer(struct infer *infer)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape, *indices = &infer->in[INDICES]->shape;
    struct gather_state *state = infer->state;
    int64_t axis = 0;
    uint32_t n_batch_dims = 0;
    if (!infer_int(infer, AXIS, &axis) || !infer_axis(infer, axis, data->rank, &state->axis) ||
        !infer_batch_dims(infer, &n_batch_dims))
        return false;
    if (data->rank - 1 + indices->rank - n_batch_dims > IRRUN_MAX_RANK)
        return infer_fail(infer, "the output would have more than %d dimensions", IRRUN_MAX_RANK);
    state->n_batches = shape_product(data, 0, n_batch_dims);
    state->n_outer = shape_product(data, n_batch_dims, state->axis);
    state->axis_dim = data->dims[state->axis];
    state->n_slice = shape_product(data, state->axis + 1, data->rank);
    state->n_indices = shape_product(indices, n_batch_dims, indices->rank);
    struct irrun_shape out = {0};
    shape_append(&out, data, 0, state->axis);
    shape_append(&out, indices, n_batch_dims, indices->rank);
    shape_append(&out, data, state->axis + 1, data->rank);
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out) && find_first(infer, state);
}

static bool views(const struct infer *infer, int64_t *firsts)
{
    const struct gather_state *state = infer->state;
    firsts[0] = state->first * state->n_slice;
    return state->first >= 0 && shape_n_elements(&infer->out[0].shape) > 0;
}

/* Sets offsets[k] to the byte offset of the slice that index k selects; to -1 if the index is out
 * of range and gives zeros. */
static bool resolve(const struct step *step, int64_t *offsets, struct irrun_error *err)
{
    const struct gather_state *state = step->state;
    bool gives_zeros = *(const bool *)step->op->def->family;
    const struct irrun_tensor *indices = step->in[INDICES];
    int64_t dim = state->axis_dim, batch_elements = state->n_outer * dim * state->n_slice;
    int64_t n = state->n_indices, size = (int64_t)dtype_size(step->in[DATA]->dtype);
    elements_as_i64(indices->dtype, indices->data, 0, (size_t)(state->n_batches * n), offsets);
    for (int64_t batch = 0, k = 0; batch < state->n_batches; batch++) {
        for (int64_t end = k + n; k < end; k++) {
            int64_t index = index_normalize(offsets[k], dim);
            if (index < 0 && !gives_zeros)
                return index_fail(step, INDICES, (size_t)k, state->axis, -dim, dim, err);
            if (index < 0)
                index_warn_zeros(step, (size_t)k, dim);
            offsets[k] = index < 0 ? -1 : (batch * batch_elements + index * state->n_slice) * size;
        }
    }
    return true;
}

static bool prepare(struct prepare *prepare)
{
    struct gather_state *state = prepare->state;
    if (shape_n_elements(&prepare->out[0]->shape) == 0)
        return true;
    state->copies =
        (struct index_copies){.n_groups = (size_t)state->n_batches,
                              .n_outer = (size_t)state->n_outer,
                              .n = (size_t)state->n_indices,
                              .outer_elements = (size_t)(state->axis_dim * state->n_slice),
                              .piece_elements = (size_t)state->n_slice,
                              .gives_zeros = *(const bool *)prepare->op->def->family};
    return index_copies_prepare(prepare, resolve, true, &state->copies);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct gather_state *state = step->state;
    return shape_n_elements(&step->out[0]->shape) == 0 ||
           index_gather_run(step, &state->copies, err);
}

/* Indices out of range: Gather-8 gives zeros. The other versions do not define a result, and irrun
 * fails. */
#define GATHER_OP(object, opset_, gives_zeros_, ...)                                               \
    const struct op_def object = {.type = "Gather",                                                \
                                  .opset = opset_,                                                 \
                                  .flags = OP_DATA_MOVEMENT,                                       \
                                  OP_INPUTS(inputs),                                               \
                                  .attrs_size = sizeof(struct gather_attrs),                       \
                                  .state_size = sizeof(struct gather_state),                       \
                                  .family = &(const bool){gives_zeros_},                           \
                                  .infer = infer,                                                  \
                                  .views = views,                                                  \
                                  .prepare = prepare,                                              \
                                  .run = run,                                                      \
                                  __VA_ARGS__}

GATHER_OP(op_gather_v1, 1, false, .opset_last = 6);
GATHER_OP(op_gather_v7, 7, false, .opset_last = 7, OP_ATTR_TABLE(attr_table));
GATHER_OP(op_gather_v8, 8, true, OP_ATTR_TABLE(attr_table));
