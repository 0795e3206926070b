/* ShuffleChannels-1: transposes an axis from [group][rest] to [rest][group].
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/indexing.h"
#include "ops/movement.h"

struct shuffle_channels_attrs {
    int64_t axis, group;
};

static const struct attr_def attr_table[] = {
    ATTR(struct shuffle_channels_attrs, axis, "1"),
    ATTR(struct shuffle_channels_attrs, group, "1"),
};

static bool infer(struct infer *infer)
{
    const struct shuffle_channels_attrs *attrs = infer->attrs;
    const struct irrun_shape *shape = &infer->in[0]->shape;
    uint32_t axis = 0;
    if (!infer_axis(infer, attrs->axis, shape->rank, &axis))
        return false;
    if (attrs->group < 1)
        return infer_fail(infer, "group must be above 0, but is %lld", (long long)attrs->group);
    if (shape->dims[axis] % attrs->group != 0)
        return infer_fail_input(infer, 0, "a dimension %u that is divisible by %lld groups", axis,
                                (long long)attrs->group);
    struct axis_view view = axis_view_of(shape, axis);
    int64_t n_rest = view.n / attrs->group;
    const int64_t dims[] = {view.n_outer, n_rest, attrs->group, view.n_inner};
    const int64_t strides[] = {view.n * view.n_inner, view.n_inner, n_rest * view.n_inner, 1};
    move_plan(infer->state, 4, dims, strides, 0);
    return infer_output(infer, 0, infer->in[0]->dtype, shape);
}

MOVE_OP(op_shuffle_channels, "ShuffleChannels", 1, OP_ONE_INPUT("data", TYPES_ANY), infer,
        OP_ATTRS(attr_table, struct shuffle_channels_attrs));
