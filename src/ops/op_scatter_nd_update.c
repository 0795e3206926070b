/* ScatterNDUpdate-3 and -15: a copy of the data in which updates replace, or are combined with, the
 * slices that tuples of coordinates select.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/index_copies.h"
#include "ops/scatter.h"

enum { DATA, INDICES, UPDATES };

struct scatter_nd_attrs {
    int reduction; /* an enum scatter_reduction */
};

struct scatter_nd_state {
    struct tuple_indices plan;
    struct index_copies copies;
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct scatter_nd_attrs, reduction, "none", "none|sum|sub|prod|min|max"),
};

#define INPUTS(types_)                                                                             \
    {                                                                                              \
        {"data", .types = types_, .same = 1}, {"indices", .types = TYPES_INTEGER},                 \
            {"updates", .types = types_, .same = 1},                                               \
    }
static const struct op_input_def any_inputs[] = INPUTS(TYPES_ANY);
static const struct op_input_def number_inputs[] = INPUTS(TYPES_NUMBER | TYPES_BOOLEAN);

static bool infer(struct infer *infer)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape, *indices = &infer->in[INDICES]->shape;
    const struct tuple_indices *plan = infer->state;
    char text[SHAPE_TEXT_BYTES];
    if (!tuple_indices_plan(infer, 0))
        return false;
    if (indices->rank - 1 + data->rank - plan->n_axes > IRRUN_MAX_RANK)
        return infer_fail(infer, "the updates would have more than %d dimensions", IRRUN_MAX_RANK);
    struct irrun_shape updates = {0};
    shape_append(&updates, indices, 0, indices->rank - 1);
    shape_append(&updates, data, plan->n_axes, data->rank);
    const struct irrun_shape *given = &infer->in[UPDATES]->shape;
    bool is_one_for_scalar = updates.rank == 0 && shape_n_elements(given) == 1;
    if (!shape_equals(given, &updates) && !is_one_for_scalar)
        return infer_fail_input(infer, UPDATES,
                                "%s: the indices without their last dimension, then the "
                                "remaining dimensions of the data",
                                shape_format(&updates, text));
    return infer_output(infer, 0, infer->in[DATA]->dtype, data);
}

static bool prepare(struct prepare *prepare)
{
    struct scatter_nd_state *state = prepare->state;
    if (shape_n_elements(&prepare->in[UPDATES]->shape) == 0)
        return true;
    int reduction = ((const struct scatter_nd_attrs *)prepare->attrs)->reduction;
    state->copies = (struct index_copies){
        .n_groups = 1,
        .n_outer = 1,
        .n = (size_t)state->plan.n_tuples,
        .piece_elements = (size_t)state->plan.n_slice,
        .combine = scatter_function((enum scatter_reduction)reduction, prepare->in[DATA]->dtype)};
    return index_copies_prepare(prepare, tuple_indices_resolve, false, &state->copies);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct scatter_nd_state *state = step->state;
    if (shape_n_elements(&step->in[UPDATES]->shape) > 0)
        return index_scatter_run(step, &state->copies, err);
    tensor_copy(step->out[0], step->in[0]);
    return true;
}

#define SCATTER_ND_OP(object, opset_, inputs_, ...)                                                \
    const struct op_def object = {.type = "ScatterNDUpdate",                                       \
                                  .opset = opset_,                                                 \
                                  OP_INPUTS(inputs_),                                              \
                                  .attrs_size = sizeof(struct scatter_nd_attrs),                   \
                                  .state_size = sizeof(struct scatter_nd_state),                   \
                                  .infer = infer,                                                  \
                                  .prepare = prepare,                                              \
                                  .run = run,                                                      \
                                  __VA_ARGS__}

SCATTER_ND_OP(op_scatter_nd_update_v3, 3, any_inputs, .opset_last = 14,
              .flags = OP_DATA_MOVEMENT | OP_IN_PLACE_INPUT0);
SCATTER_ND_OP(op_scatter_nd_update_v15, 15, number_inputs, .flags = OP_IN_PLACE_INPUT0,
              OP_ATTR_TABLE(attr_table));
