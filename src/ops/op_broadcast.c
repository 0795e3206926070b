/* Broadcast-1 and -3: broadcasts the data to a target shape. Version 3 adds the bidirectional mode,
 * in which the target is also broadcast to the data.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"
#include "ops/op_state.h"

enum { DATA, TARGET, AXES_MAPPING };

struct broadcast_attrs {
    int mode;
    int64_t axis; /* for pdpd */
};

#define ATTRS(modes)                                                                               \
    {                                                                                              \
        ATTR_CHOICE(struct broadcast_attrs, mode, "numpy", modes),                                 \
            ATTR_NAMED(struct broadcast_attrs, axis, "mode.auto_broadcast_axis", "0"),             \
    }
static const struct attr_def v1_attrs[] = ATTRS("numpy|none|explicit|pdpd");
static const struct attr_def v3_attrs[] = ATTRS("numpy|none|explicit|pdpd|bidirectional");

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"target_shape", .types = TYPES_INTEGER},
    {"axes_mapping", .types = TYPES_INTEGER, .is_optional = true},
};

static bool read_target(struct infer *infer, struct irrun_shape *target)
{
    struct i64_list dims = {0};
    if (!infer_ints(infer, TARGET, &dims))
        return false;
    if (dims.n > IRRUN_MAX_RANK)
        return infer_fail_input(infer, TARGET, "at most %d numbers", IRRUN_MAX_RANK);
    for (uint32_t i = 0; i < dims.n; i++)
        if (dims.items[i] < 0)
            return infer_fail(infer, "target_shape has the dimension %lld, expected 0 or more",
                              (long long)dims.items[i]);
    *target = shape_of(dims.n, dims.items);
    return true;
}

/* Sets *aligned to the shape of the data, with ones at the axes that axes_mapping does not list. */
static bool align_explicit(struct infer *infer, const struct irrun_shape *target,
                           struct irrun_shape *aligned)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    if (infer->n_inputs <= AXES_MAPPING)
        return infer_fail(infer, "mode explicit needs input %d (axes_mapping)", AXES_MAPPING);
    struct i64_list axes = {0};
    if (!infer_ints(infer, AXES_MAPPING, &axes))
        return false;
    if (axes.n != data->rank && !(axes.n == 1 && data->rank == 0))
        return infer_fail_input(infer, AXES_MAPPING, "%u numbers, one per dimension of the data",
                                data->rank);
    if (target->rank == 0 && data->rank > 0)
        return infer_fail(infer, "target_shape is empty, but the data has rank %u", data->rank);
    aligned->rank = target->rank;
    for (uint32_t i = 0; i < target->rank; i++)
        aligned->dims[i] = 1;
    int64_t previous = -1;
    for (uint32_t i = 0; i < axes.n && data->rank > 0; i++) {
        int64_t axis = axes.items[i];
        if (axis <= previous || axis >= target->rank)
            return infer_fail(infer,
                              "axes_mapping must be increasing within 0 ... %u, but has %lld",
                              target->rank - 1, (long long)axis);
        aligned->dims[axis] = data->dims[i];
        previous = axis;
    }
    return true;
}

static bool align_pdpd(struct infer *infer, const struct irrun_shape *target,
                       struct irrun_shape *aligned)
{
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    int64_t axis = ((const struct broadcast_attrs *)infer->attrs)->axis;
    if (axis == -1)
        axis = (int64_t)target->rank - data->rank;
    if (data->rank > target->rank || axis < 0 || axis > target->rank - data->rank)
        return infer_fail_input(infer, DATA, "a shape that fits in target_shape from axis %lld on",
                                (long long)axis);
    aligned->rank = target->rank;
    for (uint32_t i = 0; i < target->rank; i++)
        aligned->dims[i] = i >= axis && i < axis + data->rank ? data->dims[i - axis] : 1;
    return true;
}

/* Returns the runs that are repeated, if all dimensions that are broadcast are consecutive;
 * otherwise a count of 0. */
static struct runs find_runs(const struct irrun_shape *in, const struct irrun_shape *out)
{
    struct runs runs = {1, 1};
    uint32_t i = out->rank, before = out->rank - in->rank;
    for (; i > before && in->dims[i - 1 - before] == out->dims[i - 1]; i--)
        runs.length *= (size_t)out->dims[i - 1];
    for (; i > 0 && (i <= before || in->dims[i - 1 - before] == 1); i--)
        runs.count *= (size_t)out->dims[i - 1];
    for (; i > 0; i--)
        if (out->dims[i - 1] != (i > before ? in->dims[i - 1 - before] : 1))
            return (struct runs){0};
    return runs;
}

static bool repeats(const void *state, struct runs *runs)
{
    *runs = ((const struct move_state *)state)->runs;
    return runs->count > 0;
}

static bool infer(struct infer *infer)
{
    int mode = ((const struct broadcast_attrs *)infer->attrs)->mode;
    struct irrun_shape target, aligned = infer->in[DATA]->shape, out;
    if (!read_target(infer, &target))
        return false;
    if (infer->n_inputs > AXES_MAPPING && infer->op->def->opset >= 3 &&
        mode != BROADCAST_EXPLICIT && mode != BROADCAST_NONE)
        return infer_fail(infer, "input %d (axes_mapping) is only for mode explicit", AXES_MAPPING);
    if (mode == BROADCAST_EXPLICIT || mode == BROADCAST_NONE) {
        if (!align_explicit(infer, &target, &aligned))
            return false;
    } else if (mode == BROADCAST_PDPD) {
        if (!align_pdpd(infer, &target, &aligned))
            return false;
    }
    if (!shape_broadcast(&aligned, &target, &out) ||
        (mode != BROADCAST_BIDIRECTIONAL && !shape_equals(&out, &target))) {
        char text[SHAPE_TEXT_BYTES];
        return infer_fail_input(infer, DATA, "a shape that broadcasts to %s",
                                shape_format(&target, text));
    }
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, &out))
        return false;
    struct move_state *state = infer->state;
    move_plan_broadcast(state, &aligned, &out);
    state->runs = find_runs(&aligned, &out);
    return true;
}

#define BROADCAST_OP(object, opset, attrs_, ...)                                                   \
    MOVE_OP(object, "Broadcast", opset, OP_INPUTS(inputs), infer,                                  \
            OP_ATTRS(attrs_, struct broadcast_attrs), .repeats = repeats, __VA_ARGS__)

BROADCAST_OP(op_broadcast_v1, 1, v1_attrs, .opset_last = 2);
BROADCAST_OP(op_broadcast_v3, 3, v3_attrs, .opset_last = 0);
