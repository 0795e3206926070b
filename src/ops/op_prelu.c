/* PReLU-1: x < 0 ? x * slope : x. A slope of rank 1 applies to dimension 1, the channels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/elementwise.h"

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_FLOAT | TYPES_SIGNED, .same = 1},
    {"slope", .types = TYPES_FLOAT | TYPES_SIGNED, .same = 1},
    {.name = NULL},
};

static bool infer(struct infer *infer)
{
    const struct irrun_shape *data = &infer->in[0]->shape, *given = &infer->in[1]->shape;
    struct irrun_shape slope = *given, out;
    if (given->rank == 1 && data->rank > 1 && given->dims[0] != 1 &&
        given->dims[0] == data->dims[1]) {
        slope.rank = data->rank - 1;
        for (uint32_t i = 1; i < slope.rank; i++)
            slope.dims[i] = 1;
    }
    if (!shape_broadcast(data, &slope, &out) || !shape_equals(data, &out))
        return infer_fail_input(infer, 1, "a shape that broadcasts to that of input 0");
    return infer_output(infer, 0, infer->in[0]->dtype, &out) &&
           binary_plan(infer, &out, data, &slope);
}

const struct op_def op_prelu = {
    .type = "PReLU",
    .opset = 1,
    .flags = OP_IN_PLACE,
    .inputs = inputs,
    .n_outputs = 1,
    .state_size = sizeof(struct binary_state),
    .family = &(const enum binary_operation){BINARY_PRELU},
    .infer = infer,
    .prepare = binary_prepare,
    .run = binary_run,
};
