/* ScatterUpdate-3: a copy of the data in which updates replace slices along an axis, selected by
 * indices. The specification does not allow negative indices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/index_copies.h"

enum { DATA, INDICES, UPDATES, AXIS };

struct scatter_update_state {
    struct index_copies copies;
    struct axis_view view;
    uint32_t axis;
    int64_t n_indices;
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY, .same = 1},
    {"indices", .types = TYPES_INTEGER},
    {"updates", .types = TYPES_ANY, .same = 1},
    {"axis", .types = TYPES_INTEGER},
};

static bool infer(struct infer *infer)
{
    struct scatter_update_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[DATA]->shape, *indices = &infer->in[INDICES]->shape;
    int64_t axis = 0;
    char text[SHAPE_TEXT_BYTES];
    if (!infer_int(infer, AXIS, &axis) || !infer_axis(infer, axis, data->rank, &state->axis))
        return false;
    if (data->rank - 1 + indices->rank > IRRUN_MAX_RANK)
        return infer_fail(infer, "the updates would have more than %d dimensions", IRRUN_MAX_RANK);
    struct irrun_shape updates = {0};
    shape_append(&updates, data, 0, state->axis);
    shape_append(&updates, indices, 0, indices->rank);
    shape_append(&updates, data, state->axis + 1, data->rank);
    if (!shape_equals(&infer->in[UPDATES]->shape, &updates)) {
        infer_fail_input(infer, UPDATES, "%s: the data with axis %u replaced by the indices",
                         shape_format(&updates, text), state->axis);
        return infer_hint_input(infer, INDICES);
    }
    state->view = axis_view_of(data, state->axis);
    state->n_indices = shape_n_elements(indices);
    return infer_output(infer, 0, infer->in[DATA]->dtype, data);
}

static bool resolve(const struct step *step, int64_t *offsets, struct irrun_error *err)
{
    const struct scatter_update_state *state = step->state;
    const struct irrun_tensor *indices = step->in[INDICES];
    int64_t slice_bytes = state->view.n_inner * (int64_t)dtype_size(step->in[DATA]->dtype);
    size_t n = (size_t)state->n_indices;
    elements_as_i64(indices->dtype, indices->data, 0, n, offsets);
    for (size_t k = 0; k < n; k++) {
        if (offsets[k] < 0 || offsets[k] >= state->view.n)
            return index_fail(step, INDICES, k, state->axis, 0, state->view.n, err);
        offsets[k] *= slice_bytes;
    }
    return true;
}

static bool prepare(struct prepare *prepare)
{
    struct scatter_update_state *state = prepare->state;
    const struct axis_view *view = &state->view;
    state->copies = (struct index_copies){.n_groups = 1,
                                          .n_outer = (size_t)view->n_outer,
                                          .n = (size_t)state->n_indices,
                                          .outer_elements = (size_t)(view->n * view->n_inner),
                                          .piece_elements = (size_t)view->n_inner};
    return index_copies_prepare(prepare, resolve, false, &state->copies);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct scatter_update_state *state = step->state;
    return index_scatter_run(step, &state->copies, err);
}

const struct op_def op_scatter_update = {
    .type = "ScatterUpdate",
    .opset = 3,
    .flags = OP_DATA_MOVEMENT | OP_IN_PLACE_INPUT0,
    OP_INPUTS(inputs),
    .state_size = sizeof(struct scatter_update_state),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
