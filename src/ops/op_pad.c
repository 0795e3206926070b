/* Pad-1 and -12: add a border to the data. A negative pad crops.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "kernels/indexed_copy.h"
#include "ops/int8_ops.h"
#include "ops/movement.h"
#include "ops/op_state.h"

enum { DATA, PADS_BEGIN, PADS_END, PAD_VALUE };

/* Loops over the dimensions up to the last padded one; the inner ones are copied as one slice. */
struct pad_state {
    int mode;
    uint32_t n_axes;
    int64_t n_slice; /* elements of the slice */
    int64_t begin[IRRUN_MAX_RANK];
    int64_t in_elements[IRRUN_MAX_RANK], out_elements[IRRUN_MAX_RANK]; /* strides */
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct pad_attrs, pad_mode, NULL, "constant|edge|reflect|symmetric"),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY, .same = 1},
    {"pads_begin", .types = TYPES_INTEGER},
    {"pads_end", .types = TYPES_INTEGER},
    {"pad_value", .types = TYPES_ANY, .same = 1, .is_optional = true},
};

/* Returns the input coordinate that is copied to coordinate i, which counts from the first element
 * of the input; -1 means pad_value. n is not 0. */
static int64_t source_of(int64_t i, int64_t n, int mode)
{
    if (i >= 0 && i < n)
        return i;
    if (mode == PAD_CONSTANT)
        return -1;
    if (mode == PAD_EDGE)
        return i < 0 ? 0 : n - 1;
    if (mode == PAD_REFLECT)
        return i < 0 ? -i : 2 * (n - 1) - i;
    return i < 0 ? -1 - i : 2 * n - 1 - i;
}

/* Returns the largest pad of an axis of n elements. */
static int64_t max_pad(int64_t n, int mode)
{
    if (mode == PAD_CONSTANT || (mode == PAD_EDGE && n > 0))
        return INT64_MAX;
    return mode == PAD_SYMMETRIC || n == 0 ? n : n - 1;
}

/* Sets *dim to the dimension of the output if dimension `axis` of the data is n. */
static bool infer_dim(struct infer *infer, uint32_t axis, int64_t n, int64_t begin, int64_t end,
                      int64_t *dim)
{
    int mode = ((const struct pad_attrs *)infer->attrs)->pad_mode;
    if (begin > max_pad(n, mode) || end > max_pad(n, mode)) {
        static const char *const names[] = {"constant", "edge", "reflect", "symmetric"};
        return infer_fail_input(infer, DATA,
                                "a dimension %u large enough for pads %lld and %lld of mode %s",
                                axis, (long long)begin, (long long)end, names[mode]);
    }
    if (!checked_add_i64(n, begin, dim) || !checked_add_i64(*dim, end, dim) || *dim < 0)
        return infer_fail(infer, "pads %lld and %lld do not fit dimension %u, which is %lld",
                          (long long)begin, (long long)end, axis, (long long)n);
    return true;
}

static bool infer(struct infer *infer)
{
    const struct pad_attrs *attrs = infer->attrs;
    struct pad_state *state = infer->state;
    const struct irrun_shape *in = &infer->in[DATA]->shape;
    struct i64_list pads[3] = {{0}};
    for (uint32_t i = PADS_BEGIN; i <= PADS_END; i++) {
        if (!infer_ints(infer, i, &pads[i]))
            return false;
        if (pads[i].n != in->rank)
            return infer_fail_input(infer, i, "%u numbers, one per dimension of the data",
                                    in->rank);
    }
    if (infer->n_inputs > PAD_VALUE && shape_n_elements(&infer->in[PAD_VALUE]->shape) != 1)
        return infer_fail_input(infer, PAD_VALUE, "one number");
    struct irrun_shape out = *in;
    state->mode = attrs->pad_mode;
    state->n_axes = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        uint32_t at = !attrs->channels_last || i == 0 ? i : i + 1 < in->rank ? i + 1 : 1;
        int64_t begin = pads[PADS_BEGIN].items[at], end = pads[PADS_END].items[at];
        if (!infer_dim(infer, at, in->dims[i], begin, end, &out.dims[i]))
            return false;
        state->begin[i] = begin;
        if (begin != 0 || end != 0)
            state->n_axes = i + 1;
    }
    state->n_slice = shape_product(in, state->n_axes, in->rank);
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, &out))
        return false;
    move_strides(in, state->in_elements);
    move_strides(&out, state->out_elements);
    return true;
}

/* The arguments that stay the same in the recursion over the axes. */
struct run {
    const struct pad_state *state;
    const struct irrun_shape *in, *out;
    size_t element_bytes;
    const void *value;
};

static char *pad(const struct run *run, uint32_t axis, const char *from, char *to);

/* Writes positions first … end - 1 of an axis of the output, which are all in its border. */
static char *pad_border(const struct run *run, uint32_t axis, int64_t first, int64_t end,
                        const char *from, char *to)
{
    const struct pad_state *state = run->state;
    size_t in_bytes = (size_t)state->in_elements[axis] * run->element_bytes;
    if (state->mode == PAD_CONSTANT) {
        size_t n = (size_t)((end - first) * state->out_elements[axis]);
        fill_elements(to, n, run->value, run->element_bytes);
        return to + n * run->element_bytes;
    }
    for (int64_t i = first; i < end; i++) {
        int64_t source = source_of(i - state->begin[axis], run->in->dims[axis], state->mode);
        to = pad(run, axis + 1, from + (size_t)source * in_bytes, to);
    }
    return to;
}

/* Returns whether `axis` is the last padded one, and its rows only get a constant border. */
static bool has_bordered_rows(const struct run *run, uint32_t axis)
{
    if (axis + 1 != run->state->n_axes || run->state->mode != PAD_CONSTANT)
        return false;
    int64_t begin = run->state->begin[axis], n = run->in->dims[axis];
    return begin >= 0 && n > 0 && begin + n <= run->out->dims[axis];
}

/* Writes n_rows rows with constant borders. The borders between two rows are filled together. */
static char *pad_rows(const struct run *run, uint32_t axis, int64_t n_rows, const char *from,
                      char *to)
{
    const struct pad_state *state = run->state;
    size_t size = run->element_bytes, begin = (size_t)(state->begin[axis] * state->n_slice);
    size_t row_bytes = (size_t)(run->in->dims[axis] * state->n_slice) * size;
    size_t gap = (size_t)(run->out->dims[axis] * state->n_slice) - row_bytes / size;
    fill_elements(to, begin, run->value, size);
    to += begin * size;
    for (int64_t i = 0; i < n_rows; i++, from += row_bytes) {
        size_t n = i + 1 < n_rows ? gap : gap - begin;
        memcpy(to, from, row_bytes);
        fill_elements(to + row_bytes, n, run->value, size);
        to += row_bytes + n * size;
    }
    return to;
}

/* Writes the part of the output at one position of the axes before `axis`. Returns the end of the
 * part. */
static char *pad(const struct run *run, uint32_t axis, const char *from, char *to)
{
    const struct pad_state *state = run->state;
    if (axis == state->n_axes) {
        size_t n_bytes = (size_t)state->n_slice * run->element_bytes;
        memcpy(to, from, n_bytes);
        return to + n_bytes;
    }
    int64_t begin = state->begin[axis], end = run->out->dims[axis];
    int64_t first = begin < 0 ? 0 : begin < end ? begin : end;
    int64_t stop = begin + run->in->dims[axis] < end ? begin + run->in->dims[axis] : end;
    size_t in_bytes = (size_t)state->in_elements[axis] * run->element_bytes;
    if (stop < first)
        stop = first;
    to = pad_border(run, axis, 0, first, from, to);
    if (axis + 1 == state->n_axes && stop > first) { /* contiguous in input and output */
        size_t n_bytes = (size_t)(stop - first) * in_bytes;
        memcpy(to, from + (size_t)(first - begin) * in_bytes, n_bytes);
        to += n_bytes;
    }
    bool is_bordered = stop > first && has_bordered_rows(run, axis + 1);
    if (is_bordered)
        to = pad_rows(run, axis + 1, stop - first, from + (size_t)(first - begin) * in_bytes, to);
    for (int64_t i = first; i < stop && !is_bordered && axis + 1 < state->n_axes; i++)
        to = pad(run, axis + 1, from + (size_t)(i - begin) * in_bytes, to);
    return pad_border(run, axis, stop, end, from, to);
}

static void run(const struct step *step)
{
    const struct pad_attrs *attrs = step->op->attrs;
    const struct run run = {.state = step->state,
                            .in = &step->in[DATA]->shape,
                            .out = &step->out[0]->shape,
                            .element_bytes = dtype_size(step->in[DATA]->dtype),
                            .value = step->n_inputs > PAD_VALUE ? step->in[PAD_VALUE]->data
                                                                : attrs->value};
    if (shape_n_elements(run.out) > 0)
        pad(&run, 0, step->in[DATA]->data, step->out[0]->data);
}

#define PAD_OP(object, opset_, ...)                                                                \
    const struct op_def object = {.type = "Pad",                                                   \
                                  .opset = opset_,                                                 \
                                  .flags = OP_DATA_MOVEMENT,                                       \
                                  OP_INPUTS(inputs),                                               \
                                  OP_ATTRS(attr_table, struct pad_attrs),                          \
                                  .state_size = sizeof(struct pad_state),                          \
                                  .infer = infer,                                                  \
                                  .compute = run,                                                  \
                                  __VA_ARGS__}

PAD_OP(op_pad_v1, 1, .opset_last = 11);
PAD_OP(op_pad_v12, 12, );
PAD_OP(op_int8_pad, 1, );
