/* Select-1: out[i] = cond[i] ? then[i] : else[i]. Under numpy all three broadcast against each
 * other; under pdpd cond and else are placed within the shape of then; under none all three shapes
 * are equal. Moves bits, whatever the type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "kernels/select.h"
#include "ops/op.h"
#include "tensor/broadcast.h"

enum { CONDITION, THEN, ELSE };

struct select_attrs {
    int auto_broadcast;
    int64_t axis;
};

/* From so many bytes read and written on the output goes past the caches. Measured with one thread: below
 * 9 MB that costs 15 %, from 13 MB on it gains, twofold where L3 ends (Zen 4 with 32 MB of it; Zen 3
 * agrees; on Zen 5 it gains from 1 MB on, but whoever reads the output next would miss it). */
#define STREAM_FROM ((size_t)12 << 20)

struct select_state {
    struct broadcast loops; /* operands: out, cond, then, else; without the rows */
    size_t n_rows;          /* the loop around the innermost run */
    int64_t row_strides[4]; /* in elements */
    select_fn *select;
    size_t width; /* bytes of an element */
    bool is_streamed;
};

static const struct op_input_def inputs[] = {
    {.name = "cond", .types = TYPES_BOOLEAN},
    {.name = "then", .types = TYPES_ANY, .same = 1},
    {.name = "else", .types = TYPES_ANY, .same = 1},
    {.name = NULL},
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct select_attrs, auto_broadcast, "numpy", AUTO_BROADCAST_CHOICES),
    ATTR_NAMED(struct select_attrs, axis, "auto_broadcast.auto_broadcast_axis", "0"),
    ATTR_END,
};

/* The specification broadcasts cond one way into then and else; OpenVINO, and we, all three
 * alike. */
static bool infer_numpy(struct infer *infer, struct irrun_shape *out)
{
    struct irrun_shape else_shape;
    char text[SHAPE_TEXT_BYTES];

    if (!infer_broadcast(infer, THEN, ELSE, AUTO_BROADCAST_NUMPY, 0, out, &else_shape))
        return infer_hint_input(infer, CONDITION);
    if (shape_broadcast(out, &infer->in[CONDITION]->shape, out))
        return true;
    infer_fail_input(infer, CONDITION, "a shape that broadcasts with %s of then and else",
                     shape_format(out, text));
    infer_hint_input(infer, THEN);
    return infer_hint_input(infer, ELSE);
}

/* The kernels take two loops at once. */
static void take_rows(struct select_state *state)
{
    struct broadcast *loops = &state->loops;
    state->n_rows = 1;
    if (loops->rank == 0)
        return;
    loops->rank--;
    state->n_rows = (size_t)loops->dims[loops->rank];
    for (size_t i = 0; i < 4; i++)
        state->row_strides[i] = loops->strides[i][loops->rank];
}

static bool select_infer(struct infer *infer)
{
    const struct select_attrs *attrs = infer->attrs;
    struct select_state *state = infer->state;
    struct irrun_shape *out = &infer->out[0].shape;
    struct irrun_shape condition_shape = infer->in[CONDITION]->shape;
    struct irrun_shape else_shape = infer->in[ELSE]->shape;

    if (attrs->auto_broadcast == AUTO_BROADCAST_NUMPY) {
        if (!infer_numpy(infer, out))
            return false;
    } else if (!infer_broadcast(infer, THEN, ELSE, attrs->auto_broadcast, attrs->axis, out,
                                &else_shape) ||
               !infer_broadcast(infer, THEN, CONDITION, attrs->auto_broadcast, attrs->axis, out,
                                &condition_shape)) {
        return false;
    }
    infer->out[0].dtype = infer->in[THEN]->dtype;
    const struct irrun_shape *shapes[] = {out, &condition_shape, &infer->in[THEN]->shape,
                                          &else_shape};
    broadcast_plan(&state->loops, 4, shapes);
    take_rows(state);
    return true;
}

/* Bytes read and written; SIZE_MAX if they cannot be counted. */
static size_t traffic_bytes(const struct prepare *prepare)
{
    size_t sum = 0, size_bytes;
    for (uint32_t i = 0; i < 4; i++) {
        const struct irrun_tensor *tensor = i < 3 ? prepare->in[i] : prepare->out[0];
        if (!tensor_size(tensor->dtype, &tensor->shape, &size_bytes) ||
            !checked_add(sum, size_bytes, &sum))
            return SIZE_MAX;
    }
    return sum;
}

static bool select_prepare(struct prepare *prepare)
{
    const struct kernels *kernels = prepare->kernels;
    struct select_state *state = prepare->state;

    state->width = dtype_size(prepare->out[0]->dtype);
    state->select = state->width == 1   ? kernels->select_x8
                    : state->width == 2 ? kernels->select_x16
                    : state->width == 4 ? kernels->select_x32
                                        : kernels->select_x64;
    state->is_streamed = traffic_bytes(prepare) >= STREAM_FROM;
    return true;
}

static bool select_piece(void *context, const int64_t *offsets)
{
    const struct step *step = *(const struct step *const *)context;
    const struct select_state *state = step->state;
    const int64_t *strides = state->loops.inner_strides, *rows = state->row_strides;
    size_t at[4];

    for (size_t i = 0; i < 4; i++)
        at[i] = (size_t)offsets[i] * (i == 1 ? 1 : state->width);
    state->select(&(struct select_run){
        .n = (size_t)state->loops.n_inner,
        .n_rows = state->n_rows,
        .condition = (const unsigned char *)step->in[CONDITION]->data + at[1],
        .then_values = (const unsigned char *)step->in[THEN]->data + at[2],
        .else_values = (const unsigned char *)step->in[ELSE]->data + at[3],
        .out = (unsigned char *)step->out[0]->data + at[0],
        .condition_stride = (size_t)strides[1],
        .then_stride = (size_t)strides[2],
        .else_stride = (size_t)strides[3],
        .condition_row = (size_t)rows[1],
        .then_row = (size_t)rows[2],
        .else_row = (size_t)rows[3],
        .is_streamed = state->is_streamed,
    });
    return true;
}

static bool select_run(const struct step *step, struct irrun_error *err)
{
    const struct select_state *state = step->state;
    (void)err;
    return broadcast_walk(&state->loops, select_piece, &step);
}

const struct op_def op_select = {
    .type = "Select",
    .opset = 1,
    .flags = OP_MOVES | OP_IN_PLACE,
    .inputs = inputs,
    .n_outputs = 1,
    .attrs = attr_table,
    .attrs_size = sizeof(struct select_attrs),
    .state_size = sizeof(struct select_state),
    .infer = select_infer,
    .prepare = select_prepare,
    .run = select_run,
};
