/* Reverse-1: reverses the order of elements along axes, given as a list or as a boolean mask.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"

enum { DATA, AXES };
enum mode { MODE_INDEX, MODE_MASK };

struct reverse_attrs {
    int mode;
};

static const struct attr_def attr_table[] = {
    ATTR_CHOICE(struct reverse_attrs, mode, NULL, "index|mask"),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_ANY},
    {"axis", .types = TYPES_INTEGER | TYPES_BOOLEAN},
};

static bool read_mask(struct infer *infer, uint32_t rank, bool is_reversed[IRRUN_MAX_RANK])
{
    const struct irrun_shape *shape = &infer->in[AXES]->shape;
    if (infer->in[AXES]->dtype != IRRUN_BOOLEAN || shape->rank != 1 || shape->dims[0] != rank)
        return infer_fail_input(infer, AXES, "boolean [%u], a mask of the data's dimensions", rank);
    const struct irrun_tensor *mask = infer_value(infer, AXES);
    if (!mask)
        return false;
    for (uint32_t i = 0; i < rank; i++)
        is_reversed[i] = element_as_i64(IRRUN_BOOLEAN, mask->data, i) != 0;
    return true;
}

static bool infer(struct infer *infer)
{
    const struct irrun_shape *shape = &infer->in[DATA]->shape;
    bool is_reversed[IRRUN_MAX_RANK];
    if (((const struct reverse_attrs *)infer->attrs)->mode == MODE_MASK) {
        if (!read_mask(infer, shape->rank, is_reversed))
            return false;
    } else {
        struct i64_list axes = {0};
        if (!infer_ints(infer, AXES, &axes) || !infer_axes(infer, &axes, shape->rank, is_reversed))
            return false;
    }
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, shape))
        return false;
    int64_t strides[IRRUN_MAX_RANK], offset = 0;
    move_strides(shape, strides);
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (!is_reversed[i] || shape->dims[i] == 0)
            continue;
        offset += (shape->dims[i] - 1) * strides[i];
        strides[i] = -strides[i];
    }
    move_plan(infer->state, shape->rank, shape->dims, strides, offset);
    return true;
}

MOVE_OP(op_reverse, "Reverse", 1, OP_INPUTS(inputs), infer,
        OP_ATTRS(attr_table, struct reverse_attrs));
