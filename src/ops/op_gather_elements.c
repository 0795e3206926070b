/* GatherElements-6: one element an index, which replaces the coordinate along the axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/indexed_copy.h"
#include "ops/indexing.h"

enum { DATA, INDICES };

struct gather_elements_attrs {
    int64_t axis;
};

static const struct attr_def attr_table[] = {
    ATTR(struct gather_elements_attrs, axis, NULL),
    ATTR_END,
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"indices", .types = TYPES_INTEGER},
    {.name = NULL},
};

static bool infer(struct infer *infer)
{
    int64_t axis = ((const struct gather_elements_attrs *)infer->attrs)->axis;
    return element_indices_plan(infer, INDICES, axis, infer->state) &&
           infer_output(infer, 0, infer->in[DATA]->dtype, &infer->in[INDICES]->shape);
}

static bool prepare(struct prepare *prepare)
{
    return scratch_array(prepare, shape_n_elements(&prepare->out[0]->shape), sizeof(int64_t));
}

static bool run(const struct step *step, struct irrun_error *err)
{
    if (!element_indices_resolve(step, step->state, step->scratch, err))
        return false;
    indexed_gather(step->in[DATA]->data, step->scratch,
                   (size_t)shape_n_elements(&step->out[0]->shape),
                   dtype_size(step->in[DATA]->dtype), step->out[0]->data);
    return true;
}

const struct op_def op_gather_elements = {
    .type = "GatherElements",
    .opset = 6,
    .flags = OP_MOVES,
    .inputs = inputs,
    .n_outputs = 1,
    .attrs = attr_table,
    .attrs_size = sizeof(struct gather_elements_attrs),
    .state_size = sizeof(struct element_indices),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
