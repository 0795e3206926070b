/* Concat-1: the inputs one after the other along an axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/op.h"

struct concat_attrs {
    int64_t axis;
};

struct concat_state {
    uint32_t axis;
};

static const struct attr_def attr_table[] = {
    ATTR(struct concat_attrs, axis, NULL),
    ATTR_END,
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY, .same = 1, .is_repeated = true},
    {.name = NULL},
};

static bool fits(const struct irrun_shape *a, const struct irrun_shape *b, uint32_t axis)
{
    if (a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (i != axis && a->dims[i] != b->dims[i])
            return false;
    return true;
}

static bool infer(struct infer *infer)
{
    struct concat_state *state = infer->state;
    struct irrun_shape out = infer->in[0]->shape;
    if (!infer_axis(infer, ((const struct concat_attrs *)infer->attrs)->axis, out.rank,
                    &state->axis))
        return false;
    for (uint32_t i = 1; i < infer->n_inputs; i++) {
        const struct irrun_shape *in = &infer->in[i]->shape;
        if (!fits(&infer->in[0]->shape, in, state->axis)) {
            infer_fail_input(infer, i, "the shape of input 0 but for dimension %u", state->axis);
            return infer_hint_input(infer, 0);
        }
        if (!checked_add_i64(out.dims[state->axis], in->dims[state->axis], &out.dims[state->axis]))
            return infer_fail(infer, "dimension %u of the output is too large", state->axis);
    }
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    uint32_t axis = ((const struct concat_state *)step->state)->axis;
    const struct irrun_shape *out = &step->out[0]->shape;
    size_t size = dtype_size(step->out[0]->dtype);
    size_t n_rows = (size_t)shape_product(out, 0, axis);
    size_t row_bytes = (size_t)shape_product(out, axis, out->rank) * size;
    char *to = step->out[0]->data;
    for (uint32_t i = 0; i < step->n_inputs; i++) {
        const struct irrun_shape *in = &step->in[i]->shape;
        size_t piece_bytes = (size_t)shape_product(in, axis, in->rank) * size;
        const char *from = step->in[i]->data;
        for (size_t row = 0; row < n_rows && piece_bytes > 0; row++)
            memcpy(to + row * row_bytes, from + row * piece_bytes, piece_bytes);
        to += piece_bytes;
    }
    return true;
}

const struct op_def op_concat = {
    .type = "Concat",
    .opset = 1,
    .flags = OP_MOVES,
    .inputs = inputs,
    .n_outputs = 1,
    .attrs = attr_table,
    .attrs_size = sizeof(struct concat_attrs),
    .state_size = sizeof(struct concat_state),
    .infer = infer,
    .run = run,
};
