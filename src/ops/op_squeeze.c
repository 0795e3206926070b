/* Squeeze-1 and Squeeze-15 remove dimensions of size 1; Unsqueeze-1 inserts them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"

static const struct op_input_def squeeze_inputs[] = {
    {"data", .types = TYPES_ANY},
    {"axes", .types = TYPES_INTEGER, .is_optional = true},
};

static const struct op_input_def unsqueeze_inputs[] = {
    {"data", .types = TYPES_ANY},
    {"axes", .types = TYPES_INTEGER},
};

/* Removes the given axes, or all dimensions of size 1 if no axes are given. Keeps a given axis
 * whose size is not 1, as the specification says. */
static bool infer_squeeze(struct infer *infer)
{
    const struct irrun_shape *in = &infer->in[0]->shape;
    struct i64_list axes = {0};
    bool is_removed[IRRUN_MAX_RANK];
    if ((infer->n_inputs > 1 && !infer_ints(infer, 1, &axes)) ||
        !infer_axes(infer, &axes, in->rank, is_removed))
        return false;
    struct irrun_shape out = {0};
    for (uint32_t i = 0; i < in->rank; i++)
        if (in->dims[i] != 1 || (axes.n > 0 && !is_removed[i]))
            out.dims[out.rank++] = in->dims[i];
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

static bool infer_unsqueeze(struct infer *infer)
{
    const struct irrun_shape *in = &infer->in[0]->shape;
    struct i64_list axes = {0};
    bool is_new[IRRUN_MAX_RANK];
    if (!infer_ints(infer, 1, &axes))
        return false;
    if (axes.n > IRRUN_MAX_RANK - in->rank)
        return infer_fail(infer, "the output would have more than %d dimensions", IRRUN_MAX_RANK);
    struct irrun_shape out = {.rank = in->rank + axes.n};
    if (!infer_axes(infer, &axes, out.rank, is_new))
        return false;
    for (uint32_t i = 0, k = 0; i < out.rank; i++)
        out.dims[i] = is_new[i] ? 1 : in->dims[k++];
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

VIEW_OP(op_squeeze_v1, "Squeeze", 1, OP_INPUTS(squeeze_inputs), infer_squeeze, .opset_last = 14);
/* Ignores the attribute allow_axis_skip of version 15: it matters only for dynamic shapes, and all
 * shapes are concrete here. */
VIEW_OP(op_squeeze_v15, "Squeeze", 15, OP_INPUTS(squeeze_inputs), infer_squeeze, );
VIEW_OP(op_unsqueeze, "Unsqueeze", 1, OP_INPUTS(unsqueeze_inputs), infer_unsqueeze, );
