/* Ops that do not occur in IR files; see internal_ops.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/internal_ops.h"

#include <math.h>
#include <string.h>

#include "ops/movement.h"
#include "ops/op_state.h"

#define F16_MAX_BITS 0x7BFFU            /* 65504 */
#define BF16_MAX_BITS 0x7F7FU           /* 3.39e38 */
#define BF16_BELOW_F16_MAX_BITS 0x477FU /* 65280: 65504 would become 65536, too large for f16 */

static bool infer_insert_axis(struct infer *infer)
{
    const struct axis_attrs *attrs = infer->attrs;
    const struct irrun_shape *in = &infer->in[0]->shape;
    uint32_t axis = (uint32_t)attrs->axis;
    if (axis > in->rank || in->rank == IRRUN_MAX_RANK)
        return infer_fail_input(infer, 0, "a rank of %u to %d", axis, IRRUN_MAX_RANK - 1);
    infer->out[0] = *infer->in[0];
    struct irrun_shape *out = &infer->out[0].shape;
    memmove(out->dims + axis + 1, out->dims + axis, (in->rank - axis) * sizeof *out->dims);
    out->dims[axis] = 1;
    out->rank++;
    return true;
}

static bool infer_drop_axis(struct infer *infer)
{
    const struct axis_attrs *attrs = infer->attrs;
    const struct irrun_shape *in = &infer->in[0]->shape;
    uint32_t axis = (uint32_t)attrs->axis;
    if (axis >= in->rank || in->dims[axis] != 1)
        return infer_fail_input(infer, 0, "a dimension of 1 at axis %u", axis);
    infer->out[0] = *infer->in[0];
    struct irrun_shape *out = &infer->out[0].shape;
    memmove(out->dims + axis, out->dims + axis + 1, (in->rank - axis - 1) * sizeof *out->dims);
    out->rank--;
    return true;
}

static bool infer_swap_axes(struct infer *infer)
{
    static const uint32_t order[IRRUN_MAX_RANK] = {1, 0, 2};
    if (infer->in[0]->shape.rank != 3)
        return infer_fail_input(infer, 0, "a rank of 3");
    return move_infer_transposed(infer, order);
}

/* Moves dimension 1 to the end, or the last dimension to position 1. */
static bool infer_channels(struct infer *infer)
{
    bool moves_last = *(const bool *)infer->op->def->family;
    uint32_t rank = infer->in[0]->shape.rank, order[IRRUN_MAX_RANK] = {0};
    if (rank < 2)
        return infer_fail_input(infer, 0, "a rank of at least 2");
    for (uint32_t i = 1; i < rank; i++)
        order[i] = moves_last ? i + 1 : i - 1;
    order[moves_last ? rank - 1 : 1] = moves_last ? 1 : rank - 1;
    return move_infer_transposed(infer, order);
}

static bool infer_one_position(struct infer *infer)
{
    const struct one_position_attrs *attrs = infer->attrs;
    struct irrun_shape out = infer->in[0]->shape;
    int64_t strides[IRRUN_MAX_RANK], offset = 0;
    if (attrs->rank > 0 && out.rank != attrs->rank)
        return infer_fail_input(infer, 0, "a rank of %u to match the output port", attrs->rank);
    move_strides(&out, strides);
    if (attrs->axis <= out.rank && out.dims[out.rank - attrs->axis] > 1) {
        uint32_t axis = out.rank - attrs->axis;
        offset = attrs->is_last ? (out.dims[axis] - 1) * strides[axis] : 0;
        out.dims[axis] = 1;
    }
    move_plan(infer->state, out.rank, out.dims, strides, offset);
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

static bool infer_n_frames(struct infer *infer)
{
    const struct n_frames_attrs *attrs = infer->attrs;
    const struct irrun_shape *in = &infer->in[0]->shape;
    struct irrun_shape out = {.rank = 0};
    if (attrs->axis >= (int64_t)in->rank || attrs->batch >= (int64_t)in->rank)
        return infer_fail_input(
            infer, 0, "a rank above %lld",
            (long long)(attrs->axis > attrs->batch ? attrs->axis : attrs->batch));
    if (attrs->batch >= 0)
        out = shape_of(1, &in->dims[attrs->batch]);
    return infer_output(infer, 0, IRRUN_I64, &out);
}

static void run_n_frames(const struct step *step)
{
    const struct n_frames_attrs *attrs = step->op->attrs;
    int64_t *out = step->out[0]->data, n = shape_n_elements(&step->out[0]->shape);
    for (int64_t i = 0; i < n; i++)
        out[i] = step->in[0]->shape.dims[attrs->axis];
}

static bool infer_narrow(struct infer *infer)
{
    const struct convert_attrs *attrs = infer->attrs;
    return infer_output(infer, 0, attrs->destination_type, &infer->in[0]->shape);
}

static void run_narrow(const struct step *step)
{
    const struct irrun_tensor *from = step->in[0], *to = step->out[0];
    uint16_t *out = to->data, largest = F16_MAX_BITS;
    size_t n = (size_t)shape_n_elements(&to->shape);
    if (to->dtype == IRRUN_BF16)
        largest = from->dtype == IRRUN_F16 ? BF16_BELOW_F16_MAX_BITS : BF16_MAX_BITS;
    convert_elements(from->dtype, from->data, to->dtype, out, n);
    for (size_t i = 0; i < n; i++)
        if ((out[i] & 0x7FFFU) > largest && isfinite(element_as_f64(from->dtype, from->data, i)))
            out[i] = (uint16_t)((out[i] & 0x8000U) | largest);
}

VIEW_OP(op_insert_axis, "(insert axis)", 0, OP_ONE_INPUT("data", TYPES_ANY), infer_insert_axis,
        .attrs_size = sizeof(struct axis_attrs));
VIEW_OP(op_drop_axis, "(drop axis)", 0, OP_ONE_INPUT("data", TYPES_ANY), infer_drop_axis,
        .attrs_size = sizeof(struct axis_attrs));
MOVE_OP(op_swap_axes, "(swap axes)", 0, OP_ONE_INPUT("data", TYPES_ANY), infer_swap_axes, );
MOVE_OP(op_channels_last, "(channels last)", 0, OP_ONE_INPUT("data", TYPES_ANY), infer_channels,
        .family = &(const bool){true});
MOVE_OP(op_channels_first, "(channels first)", 0, OP_ONE_INPUT("data", TYPES_ANY), infer_channels,
        .family = &(const bool){false});
MOVE_OP(op_one_position, "(one position)", 1, OP_ONE_INPUT("data", TYPES_ANY), infer_one_position,
        .attrs_size = sizeof(struct one_position_attrs));
const struct op_def op_n_frames = {
    .type = "(number of frames)",
    .flags = OP_DATA_MOVEMENT | OP_SHAPES_ONLY,
    OP_ONE_INPUT("data", TYPES_ANY),
    .attrs_size = sizeof(struct n_frames_attrs),
    .infer = infer_n_frames,
    .compute = run_n_frames,
};
const struct op_def op_narrow = {
    .type = "(narrow)",
    .flags = OP_ANY_STORAGE | OP_ELEMENTWISE,
    OP_ONE_INPUT("data", TYPES_ANY),
    .attrs_size = sizeof(struct convert_attrs),
    .infer = infer_narrow,
    .compute = run_narrow,
};
