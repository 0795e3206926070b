/* From f32 to bytes and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/int8_ops.h"

struct bytes_state {
    const struct quantize_kernels *kernels;
};

static bool check_rank(struct infer *infer)
{
    return infer->in[0]->shape.rank == 4 || infer_fail_input(infer, 0, "4 dimensions");
}

static bool infer_to_bytes(struct infer *infer)
{
    if (!check_rank(infer))
        return false;
    const int64_t *in = infer->in[0]->shape.dims;
    struct irrun_shape out = shape_of(4, (const int64_t[]){in[0], in[2], in[3], in[1]});
    return infer_output(infer, 0, IRRUN_U8, &out);
}

static bool infer_from_bytes(struct infer *infer)
{
    if (!check_rank(infer))
        return false;
    const int64_t *in = infer->in[0]->shape.dims;
    struct irrun_shape out = shape_of(4, (const int64_t[]){in[0], in[3], in[1], in[2]});
    return infer_output(infer, 0, IRRUN_F32, &out);
}

static bool prepare(struct prepare *prepare)
{
    ((struct bytes_state *)prepare->state)->kernels = prepare->kernels->quantize;
    return true;
}

static bool run_to_bytes(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct bytes_attrs *attrs = step->op->attrs;
    const struct bytes_state *state = step->state;
    const int64_t *dims = step->in[0]->shape.dims;
    size_t n = (size_t)(dims[2] * dims[3]), n_channels = (size_t)dims[1];
    for (size_t i = 0; i < (size_t)dims[0]; i++)
        state->kernels->to_u8(&attrs->quantization,
                              (const float *)step->in[0]->data + i * n * n_channels, n,
                              (uint8_t *)step->out[0]->data + i * n * n_channels, n_channels, n);
    return true;
}

static bool run_from_bytes(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct bytes_attrs *attrs = step->op->attrs;
    const struct bytes_state *state = step->state;
    const int64_t *dims = step->out[0]->shape.dims;
    size_t n = (size_t)(dims[2] * dims[3]), n_channels = (size_t)dims[1];
    for (size_t i = 0; i < (size_t)dims[0]; i++)
        state->kernels->from_u8(&attrs->quantization,
                                (const uint8_t *)step->in[0]->data + i * n * n_channels,
                                (float *)step->out[0]->data + i * n * n_channels, n, n_channels, n);
    return true;
}

static const struct op_input_def floats[] = {
    {"X", .types = TYPE_BIT(IRRUN_F32)},
    {.name = NULL},
};

static const struct op_input_def bytes[] = {
    {"X", .types = TYPE_BIT(IRRUN_U8)},
    {.name = NULL},
};

#define BYTES_OP(inputs_, infer_, run_)                                                            \
    {                                                                                              \
        .type = "FakeQuantize", .inputs = inputs_, .n_outputs = 1,                                 \
        .attrs_size = sizeof(struct bytes_attrs), .state_size = sizeof(struct bytes_state),        \
        .infer = infer_, .prepare = prepare, .run = run_,                                          \
    }

const struct op_def op_to_bytes = BYTES_OP(floats, infer_to_bytes, run_to_bytes);
const struct op_def op_from_bytes = BYTES_OP(bytes, infer_from_bytes, run_from_bytes);
