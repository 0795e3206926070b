/* Add of two u8 tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/int8_ops.h"
#include "tensor/broadcast.h"

struct add_state {
    struct broadcast loops; /* operands: out, then the inputs */
    const struct quantize_kernels *kernels;
};

static bool infer(struct infer *infer)
{
    struct add_state *state = infer->state;
    struct irrun_shape out, b;
    const struct irrun_shape *shapes[] = {&out, &infer->in[0]->shape, &b};
    return infer_broadcast(infer, 0, 1, AUTO_BROADCAST_NUMPY, 0, &out, &b) &&
           infer_output(infer, 0, IRRUN_U8, &out) &&
           broadcast_plan(&state->loops, 3, shapes, infer->arena, infer->err);
}

static bool visit(void *context, const int64_t *offsets, size_t n)
{
    const struct step *step = context;
    const struct add_state *state = step->state;
    const int64_t *strides = state->loops.inner_strides;
    state->kernels->add_u8(step->op->attrs, tensor_at(step->in[0], (size_t)offsets[1]),
                           (size_t)strides[1], tensor_at(step->in[1], (size_t)offsets[2]),
                           (size_t)strides[2], tensor_at(step->out[0], (size_t)offsets[0]), n);
    return true;
}

static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct add_state *state = step->state;
    broadcast_walk_units(&state->loops, begin, end, visit, (void *)step);
}

static bool prepare(struct prepare *prepare)
{
    struct add_state *state = prepare->state;
    state->kernels = prepare->kernels->quantize;
    double n = (double)shape_n_elements(&prepare->out[0]->shape);
    return prepare_sharing(prepare, run_units, broadcast_n_units(&state->loops),
                           SHARE_ELEMENT_WORK * n / 4);
}

static const struct op_input_def inputs[] = {{"A", .types = TYPE_BIT(IRRUN_U8)},
                                             {"B", .types = TYPE_BIT(IRRUN_U8)}};

const struct op_def op_int8_add = {
    .type = "Add",
    OP_INPUTS(inputs),
    .attrs_size = sizeof(struct bytes_sum),
    .state_size = sizeof(struct add_state),
    .infer = infer,
    .prepare = prepare,
};
