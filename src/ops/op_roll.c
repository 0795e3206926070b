/* Roll-7: shifts elements along axes, cyclically.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/op.h"

enum { DATA, SHIFT, AXES };

/* Loops over the dimensions up to the last shifted one; the elements of inner ones are
 * contiguous. */
struct roll_state {
    uint32_t n_axes;
    int64_t shifts[IRRUN_MAX_RANK]; /* 0 ... dim - 1 */
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"shift", .types = TYPES_INTEGER},
    {"axes", .types = TYPES_INTEGER},
};

static bool infer(struct infer *infer)
{
    const struct irrun_shape *in = &infer->in[DATA]->shape;
    struct roll_state *state = infer->state;
    struct i64_list shifts = {0}, axes = {0};
    if (!infer_ints(infer, SHIFT, &shifts) || !infer_ints(infer, AXES, &axes))
        return false;
    bool is_shared = infer->in[SHIFT]->shape.rank == 0 || shifts.n == 1;
    if (!is_shared && shifts.n != axes.n)
        return infer_fail_input(infer, SHIFT, "one number, or one per axis");
    *state = (struct roll_state){0};
    for (uint32_t i = 0; i < axes.n; i++) {
        uint32_t axis = 0;
        if (!infer_axis(infer, axes.items[i], in->rank, &axis))
            return false;
        int64_t dim = in->dims[axis];
        if (dim == 0)
            continue;
        int64_t shift = shifts.items[is_shared ? 0 : i] % dim;
        shift += shift < 0 ? dim : 0;
        int64_t rest = dim - shift; /* avoids the sum of the shifts, which may overflow */
        state->shifts[axis] += state->shifts[axis] < rest ? shift : -rest;
    }
    for (uint32_t i = 0; i < in->rank; i++)
        if (state->shifts[i] != 0)
            state->n_axes = i + 1;
    return infer_output(infer, 0, infer->in[DATA]->dtype, in);
}

/* Copies piece_bytes, which span `axis` and the axes after it, and rolls them along these axes. */
static void roll(const struct roll_state *state, const struct irrun_shape *shape, uint32_t axis,
                 size_t piece_bytes, const char *from, char *to)
{
    size_t dim = (size_t)shape->dims[axis], inner_bytes = piece_bytes / dim;
    size_t shift = (size_t)state->shifts[axis];
    if (axis + 1 == state->n_axes) {
        memcpy(to + shift * inner_bytes, from, piece_bytes - shift * inner_bytes);
        memcpy(to, from + piece_bytes - shift * inner_bytes, shift * inner_bytes);
        return;
    }
    for (size_t i = 0; i < dim; i++) {
        size_t target = i < dim - shift ? i + shift : i - (dim - shift);
        roll(state, shape, axis + 1, inner_bytes, from + i * inner_bytes,
             to + target * inner_bytes);
    }
}

static void run(const struct step *step)
{
    const struct roll_state *state = step->state;
    size_t n_bytes = tensor_n_bytes(step->in[DATA]);
    if (n_bytes > 0 && state->n_axes > 0)
        roll(state, &step->in[DATA]->shape, 0, n_bytes, step->in[DATA]->data, step->out[0]->data);
    else
        tensor_copy(step->out[0], step->in[DATA]);
}

const struct op_def op_roll = {
    .type = "Roll",
    .opset = 7,
    .flags = OP_DATA_MOVEMENT,
    OP_INPUTS(inputs),
    .state_size = sizeof(struct roll_state),
    .infer = infer,
    .compute = run,
};
