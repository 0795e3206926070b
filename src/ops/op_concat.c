/* Concat-1: the inputs one after the other along an axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/op_state.h"

/* The output is [n_rows] of pieces, one of each input, of so many elements. */
struct concat_state {
    size_t n_rows, row_elements;
    size_t *piece_elements;
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
    uint32_t axis;
    if (!infer_axis(infer, ((const struct concat_attrs *)infer->attrs)->axis, out.rank, &axis))
        return false;
    for (uint32_t i = 1; i < infer->n_inputs; i++) {
        const struct irrun_shape *in = &infer->in[i]->shape;
        if (!fits(&infer->in[0]->shape, in, axis)) {
            infer_fail_input(infer, i, "the shape of input 0 but for dimension %u", axis);
            return infer_hint_input(infer, 0);
        }
        if (!checked_add_i64(out.dims[axis], in->dims[axis], &out.dims[axis]))
            return infer_fail(infer, "dimension %u of the output is too large", axis);
    }
    if (!infer_output(infer, 0, infer->in[0]->dtype, &out))
        return false;
    state->n_rows = (size_t)shape_product(&out, 0, axis);
    state->row_elements = (size_t)shape_product(&out, axis, out.rank);
    state->piece_elements =
        arena_alloc_array(infer->arena, infer->n_inputs, sizeof(size_t), infer->err);
    for (uint32_t i = 0; state->piece_elements && i < infer->n_inputs; i++)
        state->piece_elements[i] =
            (size_t)shape_product(&infer->in[i]->shape, axis, infer->in[i]->shape.rank);
    return state->piece_elements != NULL;
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct concat_state *state = step->state;
    size_t size = dtype_size(step->out[0]->dtype), row_bytes = state->row_elements * size;
    char *to = step->out[0]->data;
    for (uint32_t i = 0; i < step->n_inputs; i++) {
        size_t piece_bytes = state->piece_elements[i] * size;
        const char *from = step->in[i]->data;
        for (size_t row = 0; row < state->n_rows && piece_bytes > 0; row++)
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
