/* Transpose-1: output dimension i is input dimension order[i]; an empty order reverses all
 * dimensions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/movement.h"

static const struct op_input_def inputs[] = {
    {"arg", .types = TYPES_ANY},
    {"input_order", .types = TYPES_INTEGER},
};

static bool infer(struct infer *infer)
{
    const struct irrun_shape *in = &infer->in[0]->shape;
    struct i64_list order = {0};
    if (!infer_ints(infer, 1, &order))
        return false;
    if (order.n != 0 && order.n != in->rank)
        return infer_fail_input(infer, 1, "none or %u numbers, one per dimension of input 0",
                                in->rank);
    bool is_used[IRRUN_MAX_RANK];
    uint32_t from[IRRUN_MAX_RANK];
    if (!infer_axes(infer, &order, in->rank, is_used))
        return false;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t axis = order.n ? order.items[i] : in->rank - 1 - i;
        from[i] = (uint32_t)(axis + (axis < 0 ? in->rank : 0));
    }
    return move_infer_transposed(infer, from);
}

MOVE_OP(op_transpose, "Transpose", 1, OP_INPUTS(inputs), infer, );
