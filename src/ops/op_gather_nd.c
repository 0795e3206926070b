/* GatherND-5 and -8: slices of the data selected by tuples of coordinates. Version 5 merges the
 * batch dimensions of its output into one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/index_copies.h"

enum { DATA, INDICES };

struct gather_nd_attrs {
    int64_t batch_dims;
};

struct gather_nd_state {
    struct tuple_indices plan;
    struct index_copies copies;
};

static const struct attr_def attr_table[] = {ATTR(struct gather_nd_attrs, batch_dims, "0")};

static bool infer(struct infer *infer)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape, *indices = &infer->in[INDICES]->shape;
    const struct tuple_indices *plan = infer->state;
    if (!tuple_indices_plan(infer, ((const struct gather_nd_attrs *)infer->attrs)->batch_dims))
        return false;
    uint32_t n_inner = data->rank - plan->n_batch_dims - plan->n_axes;
    if (indices->rank - 1 + n_inner > IRRUN_MAX_RANK)
        return infer_fail(infer, "the output would have more than %d dimensions", IRRUN_MAX_RANK);
    struct irrun_shape out = {0};
    uint32_t n_merged = *(const bool *)infer->op->def->family ? plan->n_batch_dims : 0;
    if (n_merged > 1)
        out.dims[out.rank++] = plan->n_batches;
    shape_append(&out, indices, n_merged > 1 ? n_merged : 0, indices->rank - 1);
    shape_append(&out, data, data->rank - n_inner, data->rank);
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out);
}

static bool prepare(struct prepare *prepare)
{
    struct gather_nd_state *state = prepare->state;
    if (shape_n_elements(&prepare->out[0]->shape) == 0)
        return true;
    state->copies =
        (struct index_copies){.n_groups = 1,
                              .n_outer = 1,
                              .n = (size_t)(state->plan.n_batches * state->plan.n_tuples),
                              .piece_elements = (size_t)state->plan.n_slice};
    return index_copies_prepare(prepare, tuple_indices_resolve, true, &state->copies);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct gather_nd_state *state = step->state;
    return shape_n_elements(&step->out[0]->shape) == 0 ||
           index_gather_run(step, &state->copies, err);
}

#define GATHER_ND_OP(object, opset_, merges_batch_dims, ...)                                       \
    const struct op_def object = {.type = "GatherND",                                              \
                                  .opset = opset_,                                                 \
                                  .flags = OP_DATA_MOVEMENT,                                       \
                                  OP_INPUTS(index_gather_inputs),                                  \
                                  OP_ATTRS(attr_table, struct gather_nd_attrs),                    \
                                  .state_size = sizeof(struct gather_nd_state),                    \
                                  .family = &(const bool){merges_batch_dims},                      \
                                  .infer = infer,                                                  \
                                  .prepare = prepare,                                              \
                                  .run = run,                                                      \
                                  __VA_ARGS__}

GATHER_ND_OP(op_gather_nd_v5, 5, true, .opset_last = 7);
GATHER_ND_OP(op_gather_nd_v8, 8, false, );
