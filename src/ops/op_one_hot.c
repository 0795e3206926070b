/* OneHot-1 and -16: insert an axis of `depth` elements, with on_value at the index and off_value
 * elsewhere. An index out of range gives only off_value, and so does a negative one, except in
 * version 16 with normalize.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indexed_copy.h"
#include "ops/indexing.h"

enum { INDICES, DEPTH, ON_VALUE, OFF_VALUE };
/* The index of "normalize" in the list below. The first two words are synonyms: one occurs in IR
 * files, the other in the specification. */
#define NORMALIZE 2

struct one_hot_attrs {
    int64_t axis;
    int negative_indices_mode; /* NORMALIZE: negative indices count from the end */
};

struct one_hot_state {
    struct axis_view view; /* the output, seen along the new axis */
    struct index_list offsets;
};

static const struct attr_def attr_table[] = {
    ATTR(struct one_hot_attrs, axis, NULL),
    ATTR_CHOICE(struct one_hot_attrs, negative_indices_mode, "ignore_negative",
                "ignore_negative|ignore-negative|normalize"),
};

static const struct op_input_def inputs[] = {
    {"indices", .types = TYPES_INTEGER},
    {"depth", .types = TYPES_INTEGER},
    {"on_value", .types = TYPES_ANY, .same = 1},
    {"off_value", .types = TYPES_ANY, .same = 1},
};

static bool infer(struct infer *infer)
{
    const struct irrun_shape *in = &infer->in[INDICES]->shape;
    struct axis_view *view = &((struct one_hot_state *)infer->state)->view;
    uint32_t axis = 0;
    int64_t depth = 0;
    if (in->rank == IRRUN_MAX_RANK)
        return infer_fail(infer, "the output would have more than %d dimensions", IRRUN_MAX_RANK);
    if (!infer_axis(infer, ((const struct one_hot_attrs *)infer->attrs)->axis, in->rank + 1,
                    &axis) ||
        !infer_int(infer, DEPTH, &depth))
        return false;
    if (depth < 0) {
        infer_fail(infer, "the depth is %lld, expected 0 or more", (long long)depth);
        return infer_hint_input(infer, DEPTH);
    }
    for (uint32_t i = ON_VALUE; i <= OFF_VALUE; i++)
        if (shape_n_elements(&infer->in[i]->shape) != 1)
            return infer_fail_input(infer, i, "one element");
    struct irrun_shape out = {.rank = in->rank + 1};
    for (uint32_t i = 0; i < out.rank; i++)
        out.dims[i] = i < axis ? in->dims[i] : i == axis ? depth : in->dims[i - 1];
    if (!infer_output(infer, 0, infer->in[ON_VALUE]->dtype, &out))
        return false;
    *view = axis_view_of(&out, axis);
    return true;
}

/* Sets offsets[k] to the position of the output element that index k sets to on_value; -1: none. */
static bool resolve(const struct step *step, int64_t *offsets, struct irrun_error *err)
{
    (void)err;
    const struct axis_view *view = &((const struct one_hot_state *)step->state)->view;
    const struct one_hot_attrs *attrs = step->op->attrs;
    const struct irrun_tensor *indices = step->in[INDICES];
    int64_t dim = view->n, first = 0;
    elements_as_i64(indices->dtype, indices->data, 0, (size_t)(view->n_outer * view->n_inner),
                    offsets);
    for (int64_t outer = 0; outer < view->n_outer; outer++, first += dim * view->n_inner) {
        for (int64_t inner = 0; inner < view->n_inner; inner++, offsets++) {
            int64_t index = *offsets;
            index += index < 0 && attrs->negative_indices_mode == NORMALIZE ? dim : 0;
            *offsets = index < 0 || index >= dim ? -1 : first + index * view->n_inner + inner;
        }
    }
    return true;
}

static bool prepare(struct prepare *prepare)
{
    struct one_hot_state *state = prepare->state;
    return index_list_prepare(prepare, INDICES,
                              (size_t)shape_n_elements(&prepare->in[INDICES]->shape), resolve,
                              &state->offsets);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct one_hot_state *state = step->state;
    const int64_t *offsets = index_list_get(step, &state->offsets, err);
    size_t size = dtype_size(step->in[ON_VALUE]->dtype);
    size_t n = (size_t)shape_n_elements(&step->in[INDICES]->shape);
    char *to = step->out[0]->data;
    if (!offsets)
        return false;
    fill_elements(to, (size_t)shape_n_elements(&step->out[0]->shape), step->in[OFF_VALUE]->data,
                  size);
    for (size_t k = 0; k < n; k++)
        if (offsets[k] >= 0)
            memcpy(to + (size_t)offsets[k] * size, step->in[ON_VALUE]->data, size);
    return true;
}

#define ONE_HOT_OP(object, opset_, opset_last_, attrs_)                                            \
    const struct op_def object = {                                                                 \
        .type = "OneHot",                                                                          \
        .opset = opset_,                                                                           \
        .opset_last = opset_last_,                                                                 \
        .flags = OP_DATA_MOVEMENT,                                                                 \
        OP_INPUTS(inputs),                                                                         \
        OP_ATTRS(attrs_, struct one_hot_attrs),                                                    \
        .state_size = sizeof(struct one_hot_state),                                                \
        .infer = infer,                                                                            \
        .prepare = prepare,                                                                        \
        .run = run,                                                                                \
    }

static const struct attr_def v1_attr_table[] = {ATTR(struct one_hot_attrs, axis, NULL)};

ONE_HOT_OP(op_one_hot_v1, 1, 15, v1_attr_table);
ONE_HOT_OP(op_one_hot_v16, 16, 0, attr_table);
