/* Slice-8: start:stop:step along the given axes, nearly as in Python (slice_bounds).
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"

enum { DATA, START, STOP, STEP, AXES };

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"start", .types = TYPES_INTEGER},
    {"stop", .types = TYPES_INTEGER},
    {"step", .types = TYPES_INTEGER},
    {"axes", .types = TYPES_INTEGER, .is_optional = true},
};

struct slices {
    struct i64_list start, stop, step, axes;
};

static bool read_slices(struct infer *infer, struct slices *slices)
{
    *slices = (struct slices){0};
    if (!infer_ints(infer, START, &slices->start) || !infer_ints(infer, STOP, &slices->stop) ||
        !infer_ints(infer, STEP, &slices->step) ||
        (infer->n_inputs > AXES && !infer_ints(infer, AXES, &slices->axes)))
        return false;
    uint32_t n = slices->start.n;
    const uint32_t counts[] = {
        [STOP] = slices->stop.n, [STEP] = slices->step.n, [AXES] = slices->axes.n};
    for (uint32_t i = STOP; i < infer->n_inputs; i++)
        if (counts[i] != n)
            return infer_fail_input(infer, i, "%u numbers to match start", n);
    if (n > infer->in[DATA]->shape.rank)
        return infer_fail_input(infer, START, "at most %u numbers, one per dimension of the data",
                                infer->in[DATA]->shape.rank);
    return true;
}

static bool infer(struct infer *infer)
{
    struct slices slices;
    if (!read_slices(infer, &slices))
        return false;
    struct irrun_shape out = infer->in[DATA]->shape;
    bool is_used[IRRUN_MAX_RANK];
    if (!infer_axes(infer, &slices.axes, out.rank, is_used))
        return false;
    int64_t strides[IRRUN_MAX_RANK], offset = 0;
    move_strides(&out, strides);
    for (uint32_t i = 0; i < slices.start.n; i++) {
        int64_t axis = slices.axes.n ? slices.axes.items[i] : i, step = slices.step.items[i];
        axis += axis < 0 ? out.rank : 0;
        if (step == 0)
            return infer_fail_input(infer, STEP, "steps other than 0");
        int64_t first;
        slice_bounds(out.dims[axis], slices.start.items[i], slices.stop.items[i], step, &first,
                     &out.dims[axis]);
        offset += first * strides[axis];
        strides[axis] *= out.dims[axis] > 1 ? step : 1;
    }
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, &out))
        return false;
    move_plan(infer->state, out.rank, out.dims, strides, offset);
    return true;
}

MOVE_OP(op_slice, "Slice", 8, OP_INPUTS(inputs), infer, );
