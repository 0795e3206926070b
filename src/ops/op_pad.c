/* Pad-1 and -12: the data with a border, or, where a pad is negative, without its edge.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/op.h"

enum { DATA, PADS_BEGIN, PADS_END, PAD_VALUE };
enum mode { MODE_CONSTANT, MODE_EDGE, MODE_REFLECT, MODE_SYMMETRIC };

struct pad_attrs {
    int pad_mode;
};

/* Dimensions up to the last padded one are walked; what lies inside moves in one piece. */
struct pad_state {
    int mode;
    uint32_t n_axes;
    int64_t n_slice; /* elements of the piece */
    int64_t begin[IRRUN_MAX_RANK];
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct pad_attrs, pad_mode, NULL, "constant|edge|reflect|symmetric"),
    ATTR_END,
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY, .same = 1},
    {"pads_begin", .types = TYPES_INTEGER},
    {"pads_end", .types = TYPES_INTEGER},
    {"pad_value", .types = TYPES_ANY, .same = 1, .is_optional = true},
    {.name = NULL},
};

/* The input coordinate that coordinate i (0 = the first of the input) shows; n > 0. */
static int64_t source_of(int64_t i, int64_t n, int mode)
{
    if (i >= 0 && i < n)
        return i;
    if (mode == MODE_CONSTANT)
        return -1;
    if (mode == MODE_EDGE)
        return i < 0 ? 0 : n - 1;
    if (mode == MODE_REFLECT)
        return i < 0 ? -i : 2 * (n - 1) - i;
    return i < 0 ? -1 - i : 2 * n - 1 - i;
}

/* How far the pads may reach beyond an axis of n elements. */
static int64_t reach(int64_t n, int mode)
{
    if (mode == MODE_CONSTANT || (mode == MODE_EDGE && n > 0))
        return INT64_MAX;
    return mode == MODE_SYMMETRIC || n == 0 ? n : n - 1;
}

static bool infer_dim(struct infer *infer, uint32_t axis, int64_t begin, int64_t end, int64_t *dim)
{
    int mode = ((const struct pad_attrs *)infer->attrs)->pad_mode;
    int64_t n = infer->in[DATA]->shape.dims[axis];
    if (begin > reach(n, mode) || end > reach(n, mode)) {
        static const char *const names[] = {"constant", "edge", "reflect", "symmetric"};
        return infer_fail_input(infer, DATA,
                                "a dimension %u large enough for pads %lld and %lld of mode %s",
                                axis, (long long)begin, (long long)end, names[mode]);
    }
    if (!checked_add_i64(n, begin, dim) || !checked_add_i64(*dim, end, dim) || *dim < 0)
        return infer_fail(infer, "pads %lld and %lld do not suit dimension %u, which is %lld",
                          (long long)begin, (long long)end, axis, (long long)n);
    return true;
}

static bool infer(struct infer *infer)
{
    struct pad_state *state = infer->state;
    const struct irrun_shape *in = &infer->in[DATA]->shape;
    struct i64_list begin = {0}, end = {0};
    if (!infer_ints(infer, PADS_BEGIN, &begin) || !infer_ints(infer, PADS_END, &end))
        return false;
    if (begin.n != in->rank)
        return infer_fail_input(infer, PADS_BEGIN, "%u numbers, one a dimension of the data",
                                in->rank);
    if (end.n != in->rank)
        return infer_fail_input(infer, PADS_END, "%u numbers, one a dimension of the data",
                                in->rank);
    if (infer->n_inputs > PAD_VALUE && shape_n_elements(&infer->in[PAD_VALUE]->shape) != 1)
        return infer_fail_input(infer, PAD_VALUE, "one number");
    struct irrun_shape out = *in;
    state->mode = ((const struct pad_attrs *)infer->attrs)->pad_mode;
    state->n_axes = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        if (!infer_dim(infer, i, begin.items[i], end.items[i], &out.dims[i]))
            return false;
        state->begin[i] = begin.items[i];
        if (begin.items[i] != 0 || end.items[i] != 0)
            state->n_axes = i + 1;
    }
    state->n_slice = shape_product(in, state->n_axes, in->rank);
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out);
}

/* What stays the same while the loops go down the axes. */
struct run {
    const struct pad_state *state;
    const struct irrun_shape *in, *out;
    size_t element_bytes;
    unsigned char value[8];
};

static char *fill(const struct run *run, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++, to += run->element_bytes)
        memcpy(to, run->value, run->element_bytes);
    return to;
}

/* Writes the output from `axis` inwards and returns its end. */
static char *pad(const struct run *run, uint32_t axis, const char *from, char *to)
{
    const struct pad_state *state = run->state;
    if (axis == state->n_axes) {
        size_t n_bytes = (size_t)state->n_slice * run->element_bytes;
        memcpy(to, from, n_bytes);
        return to + n_bytes;
    }
    int64_t n = run->in->dims[axis], end = run->out->dims[axis];
    size_t in_bytes = (size_t)shape_product(run->in, axis + 1, run->in->rank) * run->element_bytes;
    int64_t n_out = shape_product(run->out, axis + 1, run->out->rank);
    for (int64_t i = 0; i < end;) {
        int64_t from_begin = i - state->begin[axis], n_now = 1;
        int64_t source = source_of(from_begin, n, state->mode);
        if (source < 0) {
            to = fill(run, to, n_out);
        } else if (axis + 1 < state->n_axes) {
            to = pad(run, axis + 1, from + (size_t)source * in_bytes, to);
        } else {
            if (source == from_begin) /* the inner part moves in one piece */
                n_now = n - source < end - i ? n - source : end - i;
            memcpy(to, from + (size_t)source * in_bytes, (size_t)n_now * in_bytes);
            to += (size_t)n_now * in_bytes;
        }
        i += n_now;
    }
    return to;
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    struct run run = {
        .state = step->state, .in = &step->in[DATA]->shape, .out = &step->out[0]->shape};
    run.element_bytes = dtype_size(step->in[DATA]->dtype);
    if (step->n_inputs > PAD_VALUE)
        memcpy(run.value, step->in[PAD_VALUE]->data, run.element_bytes);
    if (shape_n_elements(run.out) > 0)
        pad(&run, 0, step->in[DATA]->data, step->out[0]->data);
    return true;
}

#define PAD_OP(object, opset_, ...)                                                                \
    const struct op_def object = {.type = "Pad",                                                   \
                                  .opset = opset_,                                                 \
                                  .flags = OP_MOVES,                                               \
                                  .inputs = inputs,                                                \
                                  .n_outputs = 1,                                                  \
                                  .attrs = attr_table,                                             \
                                  .attrs_size = sizeof(struct pad_attrs),                          \
                                  .state_size = sizeof(struct pad_state),                          \
                                  .infer = infer,                                                  \
                                  .run = run,                                                      \
                                  __VA_ARGS__}

PAD_OP(op_pad_v1, 1, .opset_last = 11);
PAD_OP(op_pad_v12, 12, );
