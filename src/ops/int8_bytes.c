/* Internal ops: one quantizes f32, i8 or u8 to u8 codes, the other converts the codes to f32.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/int8_ops.h"

struct bytes_state {
    const struct quantize_kernels *kernels;
    uint8_t codes[256]; /* for u8 or i8 inputs (one range for all channels): each value's code */
};

/* Infers the output: moves the channels from dimension `from` to dimension `to`, and shifts the
 * dimensions between them by one. */
static bool infer_moved(struct infer *infer, enum irrun_dtype dtype, uint32_t from, uint32_t to)
{
    const struct quantize_u8_attrs *attrs = infer->attrs;
    struct irrun_shape in = infer->in[0]->shape, out = in;
    if (attrs->n_spatial == 0)
        return infer_output(infer, 0, dtype, &in);
    if (in.rank != 2 + attrs->n_spatial)
        return infer_fail_input(infer, 0, "%u dimensions", (unsigned)(2 + attrs->n_spatial));
    if (attrs->ranges.n > 1 && in.dims[from] != (int64_t)attrs->ranges.n)
        return infer_fail_input(infer, 0, "%zu channels to match the quantization ranges",
                                attrs->ranges.n);
    for (uint32_t d = from; d < to; d++)
        out.dims[d] = in.dims[d + 1];
    for (uint32_t d = from; d > to; d--)
        out.dims[d] = in.dims[d - 1];
    out.dims[to] = in.dims[from];
    return infer_output(infer, 0, dtype, &out);
}

static bool infer_to_bytes(struct infer *infer)
{
    return infer_moved(infer, IRRUN_U8, 1,
                       1 + ((const struct quantize_u8_attrs *)infer->attrs)->n_spatial);
}

static bool infer_from_bytes(struct infer *infer)
{
    return infer_moved(infer, IRRUN_F32,
                       1 + ((const struct quantize_u8_attrs *)infer->attrs)->n_spatial, 1);
}

/* A plane is the n elements of one channel. Each batch element has n_channels planes. */
struct planes {
    size_t n_batches, n_channels, n;
};

static struct planes planes_of(const struct quantize_u8_attrs *attrs,
                               const struct irrun_shape *floats)
{
    if (attrs->n_spatial == 0)
        return (struct planes){1, 1, (size_t)shape_n_elements(floats)};
    const int64_t *dims = floats->dims;
    return (struct planes){(size_t)dims[0], (size_t)dims[1],
                           (size_t)(dims[2] * (attrs->n_spatial > 1 ? dims[3] : 1))};
}

/* Divides the elements of all planes among the threads. */
static bool share_planes(struct prepare *prepare, share_fn *run, const struct irrun_tensor *floats)
{
    struct planes p = planes_of(prepare->attrs, &floats->shape);
    double n = (double)p.n_batches * (double)p.n_channels * (double)p.n;
    ((struct bytes_state *)prepare->state)->kernels = prepare->kernels->quantize;
    return prepare_sharing(prepare, run, share_units(p.n), SHARE_ELEMENT_WORK * n);
}

/* Writes the codes of n elements of each plane, with the channels last. */
static void look_up_codes(const uint8_t codes[256], const uint8_t *x, size_t x_stride, uint8_t *out,
                          size_t n_channels, size_t n)
{
    for (size_t c = 0; c < n_channels; c++)
        for (size_t i = 0; i < n; i++)
            out[i * n_channels + c] = codes[x[c * x_stride + i]];
}

static void run_to_bytes(const struct step *step, size_t begin, size_t end)
{
    const struct quantize_u8_attrs *attrs = step->op->attrs;
    const struct bytes_state *state = step->state;
    struct planes p = planes_of(attrs, &step->in[0]->shape);
    struct share_range range = share_range(p.n, begin, end);
    for (size_t i = 0; i < p.n_batches; i++) {
        size_t first = i * p.n * p.n_channels;
        const void *in = tensor_at(step->in[0], first + range.first);
        uint8_t *out = tensor_at(step->out[0], first + range.first * p.n_channels);
        if (step->in[0]->dtype == IRRUN_F32)
            state->kernels->to_u8(&attrs->ranges, in, p.n, out, p.n_channels, range.n);
        else
            look_up_codes(state->codes, in, p.n, out, p.n_channels, range.n);
    }
}

static bool prepare_to_bytes(struct prepare *prepare)
{
    const struct quantize_u8_attrs *attrs = prepare->attrs;
    struct bytes_state *state = prepare->state;
    float floats[256];
    for (int i = 0; i < 256; i++)
        floats[i] = (float)(prepare->in[0]->dtype == IRRUN_I8 ? (int8_t)i : i);
    prepare->kernels->quantize->to_u8(&attrs->ranges, floats, 256, state->codes, 1, 256);
    return share_planes(prepare, run_to_bytes, prepare->in[0]);
}

static void run_from_bytes(const struct step *step, size_t begin, size_t end)
{
    const struct quantize_u8_attrs *attrs = step->op->attrs;
    const struct bytes_state *state = step->state;
    struct planes p = planes_of(attrs, &step->out[0]->shape);
    struct share_range range = share_range(p.n, begin, end);
    for (size_t i = 0; i < p.n_batches; i++) {
        size_t first = i * p.n * p.n_channels;
        state->kernels->from_u8(
            &attrs->ranges, tensor_at(step->in[0], first + range.first * p.n_channels),
            tensor_at(step->out[0], first + range.first), p.n, p.n_channels, range.n);
    }
}

static bool prepare_from_bytes(struct prepare *prepare)
{
    return share_planes(prepare, run_from_bytes, prepare->out[0]);
}

static const struct op_input_def numbers[] = {
    {"X", .types = TYPE_BIT(IRRUN_F32) | TYPE_BIT(IRRUN_I8) | TYPE_BIT(IRRUN_U8)},
};

static const struct op_input_def bytes[] = {{"X", .types = TYPE_BIT(IRRUN_U8)}};

#define BYTES_OP(inputs_, infer_, prepare_)                                                        \
    {                                                                                              \
        .type = "FakeQuantize", OP_INPUTS(inputs_),                                                \
        .attrs_size = sizeof(struct quantize_u8_attrs), .state_size = sizeof(struct bytes_state),  \
        .infer = infer_, .prepare = prepare_,                                                      \
    }

const struct op_def op_quantize_u8 = BYTES_OP(numbers, infer_to_bytes, prepare_to_bytes);
const struct op_def op_dequantize_u8 = BYTES_OP(bytes, infer_from_bytes, prepare_from_bytes);
