/* GatherElements-6: element [i][j]... of the result is the element of the data at the same
 * coordinates, except that the coordinate along the axis is the index at [i][j]...
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/index_copies.h"

enum { DATA, INDICES };

struct gather_elements_attrs {
    int64_t axis;
};

struct gather_elements_state {
    struct element_indices indices;
    struct index_copies copies;
};

static const struct attr_def attr_table[] = {ATTR(struct gather_elements_attrs, axis, NULL)};

static bool infer(struct infer *infer)
{
    int64_t axis = ((const struct gather_elements_attrs *)infer->attrs)->axis;
    return element_indices_plan(infer, axis) &&
           infer_output(infer, 0, infer->in[DATA]->dtype, &infer->in[INDICES]->shape);
}

static bool prepare(struct prepare *prepare)
{
    struct gather_elements_state *state = prepare->state;
    state->copies = (struct index_copies){.n_groups = 1,
                                          .n_outer = 1,
                                          .n = (size_t)shape_n_elements(&prepare->out[0]->shape),
                                          .piece_elements = 1};
    return index_copies_prepare(prepare, element_indices_resolve, true, &state->copies);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct gather_elements_state *state = step->state;
    return index_gather_run(step, &state->copies, err);
}

const struct op_def op_gather_elements = {
    .type = "GatherElements",
    .opset = 6,
    .flags = OP_DATA_MOVEMENT,
    OP_INPUTS(index_gather_inputs),
    OP_ATTRS(attr_table, struct gather_elements_attrs),
    .state_size = sizeof(struct gather_elements_state),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
