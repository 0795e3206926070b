/* Broadcast-1 and -3: broadcasts the data to a target shape. Version 3 adds the bidirectional mode,
 * in which the data may also broadcast the target.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"

enum { DATA, TARGET, AXES_MAPPING };
enum mode { MODE_NUMPY, MODE_NONE, MODE_EXPLICIT, MODE_PDPD, MODE_BIDIRECTIONAL };

struct broadcast_attrs {
    int mode;
    int64_t axis; /* for pdpd */
};

static const struct attr_def v1_attrs[] = {
    ATTR_CHOICE(struct broadcast_attrs, mode, "numpy", "numpy|none|explicit|pdpd"),
    ATTR_NAMED(struct broadcast_attrs, axis, "mode.auto_broadcast_axis", "0"),
    ATTR_END,
};
static const struct attr_def v3_attrs[] = {
    ATTR_CHOICE(struct broadcast_attrs, mode, "numpy", "numpy|none|explicit|pdpd|bidirectional"),
    ATTR_NAMED(struct broadcast_attrs, axis, "mode.auto_broadcast_axis", "0"),
    ATTR_END,
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"target_shape", .types = TYPES_INTEGER},
    {"axes_mapping", .types = TYPES_INTEGER, .is_optional = true},
    {.name = NULL},
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
            return infer_fail(infer, "target_shape has the dimension %lld",
                              (long long)dims.items[i]);
    *target = shape_of(dims.n, dims.items);
    return true;
}

/* aligned: the data's shape, extended by ones to the rank of the target. */
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
    aligned->rank = target->rank;
    for (uint32_t i = 0; i < target->rank; i++)
        aligned->dims[i] = 1;
    int64_t previous = -1;
    for (uint32_t i = 0; i < axes.n && data->rank > 0; i++) {
        int64_t axis = axes.items[i];
        if (axis <= previous || axis >= target->rank)
            return infer_fail(infer,
                              "axes_mapping must be increasing within 0 ... %u, but has %lld",
                              target->rank ? target->rank - 1 : 0, (long long)axis);
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

static bool infer(struct infer *infer)
{
    int mode = ((const struct broadcast_attrs *)infer->attrs)->mode;
    struct irrun_shape target, aligned = infer->in[DATA]->shape, out;
    if (!read_target(infer, &target))
        return false;
    if (infer->n_inputs > AXES_MAPPING && infer->op->def->opset >= 3 && mode != MODE_EXPLICIT &&
        mode != MODE_NONE)
        return infer_fail(infer, "input %d (axes_mapping) is only for mode explicit", AXES_MAPPING);
    if (mode == MODE_EXPLICIT || mode == MODE_NONE) {
        if (!align_explicit(infer, &target, &aligned))
            return false;
    } else if (mode == MODE_PDPD) {
        if (!align_pdpd(infer, &target, &aligned))
            return false;
    }
    if (!shape_broadcast(&aligned, &target, &out) ||
        (mode != MODE_BIDIRECTIONAL && !shape_equals(&out, &target))) {
        char text[SHAPE_TEXT_BYTES];
        return infer_fail_input(infer, DATA, "a shape that broadcasts to %s",
                                shape_format(&target, text));
    }
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, &out))
        return false;
    move_plan_broadcast(infer->state, &aligned, &out);
    return true;
}

MOVE_OP(op_broadcast_v1, "Broadcast", 1, inputs, infer, .opset_last = 2, .attrs = v1_attrs,
        .attrs_size = sizeof(struct broadcast_attrs));
MOVE_OP(op_broadcast_v3, "Broadcast", 3, inputs, infer, .attrs = v3_attrs,
        .attrs_size = sizeof(struct broadcast_attrs));
