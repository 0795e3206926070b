/* ReduceMax and ReduceMean of u8 images over all pixels.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/pool.h"
#include "ops/cost.h"
#include "ops/int8_ops.h"

struct reduce_state {
    size_t n_batches, n_pixels, n_channels;
};

/* The output of ReduceMax is an image of one pixel with the channels last; that of ReduceMean has
 * the channels first. */
static bool infer(struct infer *infer)
{
    const struct int8_reduce_attrs *attrs = infer->attrs;
    struct reduce_state *state = infer->state;
    const struct irrun_shape *in = &infer->in[0]->shape;
    struct irrun_shape out = {.rank = attrs->keep_dims ? in->rank : 2, .dims = {in->dims[0]}};
    state->n_batches = (size_t)in->dims[0];
    state->n_channels = (size_t)in->dims[in->rank - 1];
    state->n_pixels = 1;
    for (uint32_t d = 1; d + 1 < in->rank; d++)
        state->n_pixels *= (size_t)in->dims[d];
    for (uint32_t d = 1; d < out.rank; d++)
        out.dims[d] = 1;
    out.dims[attrs->is_mean ? 1 : out.rank - 1] = in->dims[in->rank - 1];
    if (attrs->is_mean)
        return infer_output(infer, 0, IRRUN_F32, &out);
    if (state->n_pixels == 0)
        return infer_fail_input(infer, 0, "at least one pixel");
    return infer_output(infer, 0, IRRUN_U8, &out);
}

static bool prepare(struct prepare *prepare)
{
    const struct reduce_state *state = prepare->state;
    return prepare_scratch(prepare, state->n_channels, sizeof(uint64_t));
}

/* Computes the mean of each channel of an image from the sums of its codes, as f32. */
static void compute_means(const struct channel_ranges *ranges, const struct reduce_state *state,
                          const uint64_t *sums, float *out)
{
    for (size_t c = 0; c < state->n_channels; c++) {
        const struct quantization *q = range_of(ranges, c);
        double mean = (double)sums[c] / (double)state->n_pixels;
        out[c] = state->n_pixels > 0 ? (float)(mean * (double)q->scale + (double)q->out_low) : 0;
    }
}

static void run(const struct step *step)
{
    const struct int8_reduce_attrs *attrs = step->op->attrs;
    const struct reduce_state *state = step->state;
    size_t n = state->n_channels;
    for (size_t i = 0; i < state->n_batches; i++) {
        const uint8_t *image = (const uint8_t *)step->in[0]->data + i * state->n_pixels * n;
        if (attrs->is_mean) {
            sum_bytes(image, n, state->n_pixels, step->scratch);
            compute_means(&attrs->ranges, state, step->scratch,
                          (float *)step->out[0]->data + i * n);
            continue;
        }
        uint8_t *to = (uint8_t *)step->out[0]->data + i * n;
        memset(to, 0, n);
        for (size_t pixel = 0; pixel < state->n_pixels; pixel++)
            max_bytes(image + pixel * n, n, to, n, 1);
    }
}

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    (void)op;
    (void)out;
    return cost_n(in[0]);
}

#define REDUCE_OP(name)                                                                            \
    {                                                                                              \
        .type = name, OP_ONE_INPUT("data", TYPE_BIT(IRRUN_U8)),                                    \
        .attrs_size = sizeof(struct int8_reduce_attrs), .state_size = sizeof(struct reduce_state), \
        .infer = infer, .prepare = prepare, .compute = run, .flops = flops,                        \
    }

const struct op_def op_int8_reduce_max = REDUCE_OP("ReduceMax");
const struct op_def op_int8_reduce_mean = REDUCE_OP("ReduceMean");
