/* FakeQuantize-1: quantizes numbers to `levels` integers and dequantizes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/fake_quantize.h"
#include "ops/op_state.h"
#include "tensor/broadcast.h"

#define N_INPUTS 5 /* X and four bounds */

struct quantize_state {
    struct broadcast loops; /* operands: out, then the inputs in order */
    fake_quantize_fn *fn;
    const struct quantize_kernels *kernels; /* NULL: the data is not f32 */
};

static const struct attr_def attr_table[] = {
    ATTR(struct fake_quantize_attrs, levels, NULL),
    ATTR_CHOICE(struct fake_quantize_attrs, auto_broadcast, "numpy", AUTO_BROADCAST_CHOICES),
    ATTR_NAMED(struct fake_quantize_attrs, axis, "auto_broadcast.auto_broadcast_axis", "0"),
};

static const struct op_input_def inputs[] = {
    {"X", .types = TYPES_FLOAT, .same = 1},
    {"input_low", .types = TYPES_FLOAT, .same = 1},
    {"input_high", .types = TYPES_FLOAT, .same = 1},
    {"output_low", .types = TYPES_FLOAT, .same = 1},
    {"output_high", .types = TYPES_FLOAT, .same = 1},
};

static bool infer(struct infer *infer)
{
    const struct fake_quantize_attrs *attrs = infer->attrs;
    struct quantize_state *state = infer->state;
    struct irrun_shape out = infer->in[0]->shape, pair, bounds[N_INPUTS];
    const struct irrun_shape *shapes[1 + N_INPUTS] = {&out, &infer->in[0]->shape};
    if (attrs->levels < 2)
        return infer_fail(infer, "levels is %lld, expected 2 or more", (long long)attrs->levels);
    for (uint32_t i = 1; i < N_INPUTS; i++) {
        if (!infer_broadcast(infer, 0, i, attrs->auto_broadcast, attrs->axis, &pair, &bounds[i]))
            return false;
        if (!shape_broadcast(&out, &pair, &out))
            return infer_fail_input(infer, i, "a shape that broadcasts with the other bounds");
        shapes[1 + i] = &bounds[i];
    }
    if (!infer_output(infer, 0, infer->in[0]->dtype, &out))
        return false;
    return broadcast_plan(&state->loops, 1 + N_INPUTS, shapes, infer->arena, infer->err);
}

static bool visit(void *context, const int64_t *offsets, size_t n)
{
    const struct step *step = context;
    const struct quantize_state *state = step->state;
    const int64_t *strides = state->loops.inner_strides;
    const void *from[N_INPUTS];
    for (int i = 0; i < N_INPUTS; i++)
        from[i] = tensor_at(step->in[i], (size_t)offsets[1 + i]);
    int64_t levels = ((const struct fake_quantize_attrs *)step->op->attrs)->levels;
    void *out = tensor_at(step->out[0], (size_t)offsets[0]);
    bool is_one_range = (strides[2] | strides[3] | strides[4] | strides[5]) == 0;
    if (state->kernels && is_one_range && strides[1] == 1) {
        struct quantization q =
            quantization_of(*(const float *)from[1], *(const float *)from[2],
                            *(const float *)from[3], *(const float *)from[4], levels);
        state->kernels->fake(&q, from[0], out, n);
        return true;
    }
    state->fn(&(struct fake_quantize_run){
        .n = n,
        .levels = levels,
        .x = from[0],
        .in_low = from[1],
        .in_high = from[2],
        .out_low = from[3],
        .out_high = from[4],
        .x_stride = (size_t)strides[1],
        .in_low_stride = (size_t)strides[2],
        .in_high_stride = (size_t)strides[3],
        .out_low_stride = (size_t)strides[4],
        .out_high_stride = (size_t)strides[5],
        .out = out,
    });
    return true;
}

static void run_units(const struct step *step, size_t begin, size_t end)
{
    const struct quantize_state *state = step->state;
    broadcast_walk_units(&state->loops, begin, end, visit, (void *)step);
}

static bool prepare(struct prepare *prepare)
{
    struct quantize_state *state = prepare->state;
    state->fn = fake_quantize_scalar(prepare->in[0]->dtype);
    state->kernels = prepare->in[0]->dtype == IRRUN_F32 ? prepare->kernels->quantize : NULL;
    double n = (double)shape_n_elements(&prepare->out[0]->shape);
    return prepare_sharing(prepare, run_units, broadcast_n_units(&state->loops),
                           SHARE_ELEMENT_WORK * n);
}

const struct op_def op_fake_quantize = {
    .type = "FakeQuantize",
    .opset = 1,
    .flags = OP_IN_PLACE | OP_ELEMENTWISE,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct fake_quantize_attrs),
    .state_size = sizeof(struct quantize_state),
    .infer = infer,
    .prepare = prepare,
};
