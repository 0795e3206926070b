/* Multiply of a u8 image by computed factors, usually one for each channel.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/cost.h"
#include "ops/int8_ops.h"

enum { BATCH, CHANNEL, ROW, COLUMN, N_DIMS };

struct scale_state {
    const struct int8_kernels *kernels;
    size_t n[N_DIMS];                     /* dimensions of the output */
    size_t image[N_DIMS], factor[N_DIMS]; /* strides in elements; 0 if broadcast */
};

/* Sets sizes[BATCH ... COLUMN] from the shape of an operand. An image has the channels last.
 * Factors have the channels first and may have fewer dimensions. */
static void get_sizes(const struct irrun_shape *shape, uint32_t n_spatial, bool is_image,
                      size_t sizes[N_DIMS])
{
    uint32_t rank = 2 + n_spatial, missing = rank - shape->rank;
    for (uint32_t d = 0; d < N_DIMS; d++)
        sizes[d] = 1;
    for (uint32_t d = missing; d < rank; d++) {
        uint32_t at = !is_image || d == 0 ? d - missing : d == 1 ? rank - 1 : d - 1;
        sizes[d < 2 ? d : d + 2 - n_spatial] = (size_t)shape->dims[at];
    }
}

static bool infer(struct infer *infer)
{
    static const int image_order[] = {CHANNEL, COLUMN, ROW, BATCH}; /* innermost first */
    static const int factor_order[] = {COLUMN, ROW, CHANNEL, BATCH};
    const struct int8_scale_attrs *attrs = infer->attrs;
    struct scale_state *state = infer->state;
    uint32_t n_spatial = attrs->n_spatial;
    size_t image[N_DIMS], factor[N_DIMS], image_step = 1, factor_step = 1;
    if (infer->in[1]->shape.rank > 2 + n_spatial)
        return infer_fail_input(infer, 1, "at most %u dimensions", (unsigned)(2 + n_spatial));
    get_sizes(&infer->in[0]->shape, n_spatial, true, image);
    get_sizes(&infer->in[1]->shape, n_spatial, false, factor);
    for (int d = 0; d < N_DIMS; d++) {
        if (image[d] != factor[d] && image[d] != 1 && factor[d] != 1)
            return infer_fail_input(infer, 1, "a shape that broadcasts with that of the image");
        state->n[d] = image[d] == 1 ? factor[d] : image[d];
    }
    if (image[CHANNEL] != attrs->n_channels || state->n[CHANNEL] != attrs->n_channels)
        return infer_fail_input(infer, 1, "%zu channels to match the image", attrs->n_channels);
    for (int i = 0; i < N_DIMS; i++) {
        int d = image_order[i];
        state->image[d] = image[d] == 1 ? 0 : image_step;
        image_step *= image[d];
        d = factor_order[i];
        state->factor[d] = factor[d] == 1 ? 0 : factor_step;
        factor_step *= factor[d];
    }
    struct irrun_shape out = {.rank = 2 + n_spatial, .dims = {(int64_t)state->n[BATCH]}};
    for (uint32_t d = 0; d < n_spatial; d++)
        out.dims[1 + d] = (int64_t)state->n[N_DIMS - n_spatial + d];
    out.dims[1 + n_spatial] = (int64_t)attrs->n_channels;
    return infer_output(infer, 0, IRRUN_U8, &out);
}

/* Multiplies n_pixels pixels of a batch element, from `row` and `column` on, by the same
 * factors. */
static void scale_pixels(const struct step *step, size_t batch, size_t row, size_t column,
                         size_t n_pixels)
{
    const struct int8_scale_attrs *attrs = step->op->attrs;
    const struct scale_state *state = step->state;
    size_t n = attrs->n_channels, n_all = int8_n_groups(n) * INT8_GROUP;
    const float *factors = (const float *)step->in[1]->data + batch * state->factor[BATCH] +
                           row * state->factor[ROW] + column * state->factor[COLUMN];
    const uint8_t *first = (const uint8_t *)step->in[0]->data + batch * state->image[BATCH] +
                           row * state->image[ROW] + column * state->image[COLUMN];
    size_t pixel = (batch * state->n[ROW] + row) * state->n[COLUMN] + column;
    struct requantization scaled = attrs->requantization;
    float *scale = step->scratch, *bias = scale + n_all;
    scaled.scale = scale;
    scaled.bias = bias;
    for (size_t c = 0; c < n; c++) {
        float factor = factors[c * state->factor[CHANNEL]];
        scale[c] = factor * attrs->requantization.scale[c];
        bias[c] = factor * attrs->offset[c] + attrs->requantization.bias[c];
    }
    state->kernels->depthwise(&(struct int8_depthwise){
        .n = n_pixels,
        .n_channels = n,
        .n_rows = 1,
        .n_columns = 1,
        .taps = &first,
        .pixel_stride = n,
        .column_stride = n,
        .end = (const uint8_t *)step->in[0]->data + shape_n_elements(&step->in[0]->shape),
        .weights = attrs->ones,
        .start = attrs->start,
        .to = INT8_TO_U8,
        .requantization = scaled,
        .c = (uint8_t *)step->out[0]->data + pixel * n,
    });
}

static void run(const struct step *step)
{
    const struct scale_state *state = step->state;
    size_t n_pixels = state->n[ROW] * state->n[COLUMN];
    bool is_whole = true; /* all pixels have the same factors and the image is not broadcast */
    for (int d = ROW; d <= COLUMN; d++)
        is_whole = is_whole && state->factor[d] == 0 && (state->image[d] > 0 || state->n[d] == 1);
    size_t n = is_whole ? n_pixels : 1;
    for (size_t batch = 0; batch < state->n[BATCH]; batch++)
        for (size_t i = 0; i < n_pixels; i += n)
            scale_pixels(step, batch, i / state->n[COLUMN], i % state->n[COLUMN], n);
}

static bool prepare(struct prepare *prepare)
{
    const struct int8_scale_attrs *attrs = prepare->attrs;
    struct scale_state *state = prepare->state;
    state->kernels = prepare->kernels->gemm_int8;
    return prepare_scratch(prepare, 2 * int8_n_groups(attrs->n_channels) * INT8_GROUP,
                           sizeof(float));
}

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    (void)op;
    (void)in;
    return cost_n(out[0]);
}

static const struct op_input_def inputs[] = {{"A", .types = TYPE_BIT(IRRUN_U8)},
                                             {"B", .types = TYPE_BIT(IRRUN_F32)}};

const struct op_def op_int8_scale = {
    .type = "Multiply",
    OP_INPUTS(inputs),
    .attrs_size = sizeof(struct int8_scale_attrs),
    .state_size = sizeof(struct scale_state),
    .infer = infer,
    .prepare = prepare,
    .compute = run,
    .flops = flops,
};
