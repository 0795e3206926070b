/* Concat-1: joins the inputs along an axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/op_state.h"

/* Each row of the output consists of piece_elements[i] elements of every input i. */
struct concat_state {
    size_t row_elements;
    size_t *piece_elements;
};

static const struct attr_def attr_table[] = {ATTR(struct concat_attrs, axis, NULL)};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY, .same = 1, .is_repeated = true},
};

static bool fits(const struct irrun_shape *a, struct irrun_shape b, uint32_t axis)
{
    b.dims[axis] = a->dims[axis];
    return shape_equals(a, &b);
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
        if (!fits(&infer->in[0]->shape, *in, axis))
            return infer_fail_input(infer, i, "the shape of input 0 except for dimension %u", axis);
        if (!checked_add_i64(out.dims[axis], in->dims[axis], &out.dims[axis]))
            return infer_fail(infer, "dimension %u of the output is too large", axis);
    }
    if (!infer_output(infer, 0, infer->in[0]->dtype, &out))
        return false;
    state->row_elements = (size_t)shape_product(&out, axis, out.rank);
    state->piece_elements =
        arena_alloc_array(infer->arena, infer->n_inputs, sizeof(size_t), infer->err);
    for (uint32_t i = 0; state->piece_elements && i < infer->n_inputs; i++)
        state->piece_elements[i] =
            (size_t)shape_product(&infer->in[i]->shape, axis, infer->in[i]->shape.rank);
    return state->piece_elements != NULL;
}

/* Copies n bytes. For 16 to 256 bytes, such as the channels of a pixel, inline copies are faster
 * than a call of memcpy. */
static void copy_piece(char *restrict to, const char *restrict from, size_t n)
{
    if (n < 16 || n > 256) {
        memcpy(to, from, n);
        return;
    }
    for (size_t i = 0; i + 16 <= n; i += 16)
        memcpy(to + i, from + i, 16);
    memcpy(to + n - 16, from + n - 16, 16);
}

/* Copies units of SHARE_UNIT elements of the output. */
static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct concat_state *state = step->state;
    size_t row_elements = state->row_elements, offset = 0;
    struct share_range range =
        share_range((size_t)shape_n_elements(&step->out[0]->shape), begin, end);
    size_t range_end = range.first + range.n, size = dtype_size(step->out[0]->dtype);
    char *to = step->out[0]->data;
    for (uint32_t i = 0; i < step->n_inputs; i++) {
        size_t piece = state->piece_elements[i];
        const char *from = step->in[i]->data;
        bool is_in_place = step->in[i]->data == tensor_at(step->out[0], offset);
        if (piece == 0)
            continue;
        for (size_t row = range.first / row_elements;
             row * row_elements < range_end && !is_in_place; row++) {
            size_t start = row * row_elements + offset, stop = start + piece;
            size_t first = start < range.first ? range.first : start;
            size_t last = stop < range_end ? stop : range_end;
            if (first < last)
                copy_piece(to + first * size, from + (row * piece + first - start) * size,
                           (last - first) * size);
        }
        offset += piece;
    }
}

static bool prepare(struct prepare *prepare)
{
    size_t n = (size_t)shape_n_elements(&prepare->out[0]->shape);
    return prepare_sharing(prepare, run_units, share_units(n), SHARE_ELEMENT_WORK * (double)n);
}

const struct op_def op_concat = {
    .type = "Concat",
    .opset = 1,
    .flags = OP_DATA_MOVEMENT,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct concat_attrs),
    .state_size = sizeof(struct concat_state),
    .infer = infer,
    .prepare = prepare,
};
