/* ConvolutionBackpropData-1 and GroupConvolutionBackpropData-1 over one to three spatial
 * dimensions: the transposed convolution.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/grouped_convolution.h"
#include "ops/window.h"

enum { DATA, FILTERS, OUTPUT_SHAPE };

struct backprop_state {
    struct grouped_convolution grouped;
    int64_t n_positions; /* computed at a time; see convolution_transposed_n_positions */
    gemm_f32_fn *gemm;   /* NULL: the direct loops */
};

static const struct attr_def attr_table[] = {
    WINDOW_ATTRS(struct backprop_attrs),
    ATTR_NAMED(struct backprop_attrs, window.dilations, "dilations", NULL),
    ATTR(struct backprop_attrs, output_padding, ""),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER, .same = 1},
    {"filters", .types = TYPES_NUMBER, .same = 1},
    {"output_shape", .types = TYPES_INTEGER, .is_optional = true},
};

/* Computes the size of the output before pads are removed: the end of the last window, plus
 * output_padding. */
static bool find_extent(struct infer *infer, const struct window *w, int d, int64_t output_padding,
                        int64_t *extent)
{
    int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1 + output_padding;
    if (!checked_mul_i64(w->stride[d], w->out[d] - 1, extent) ||
        !checked_add_i64(*extent, reach, extent) || *extent > INT64_C(1) << 60)
        return infer_fail(infer, "the output is too large: stride %lld on a dimension of %lld",
                          (long long)w->stride[d], (long long)w->out[d]);
    return true;
}

/* Sets a dimension of the output to the requested size. auto_pad determines at which end it is
 * cropped. */
static void fit_dim(struct window *w, int d, int64_t extent, int64_t size, int auto_pad)
{
    int64_t pad = extent > size ? extent - size : 0;
    w->in[d] = size;
    if (auto_pad == AUTO_PAD_SAME_UPPER || auto_pad == AUTO_PAD_SAME_LOWER)
        w->pad_begin[d] = auto_pad == AUTO_PAD_SAME_LOWER ? pad / 2 : pad - pad / 2;
    else if (auto_pad == AUTO_PAD_VALID)
        w->pad_begin[d] = 0;
}

static bool size_dim(struct infer *infer, struct window *w, int d, int64_t extent, int auto_pad)
{
    if (auto_pad != AUTO_PAD_EXPLICIT && auto_pad != AUTO_PAD_NOTSET)
        w->pad_begin[d] = w->pad_end[d] = 0;
    w->in[d] = extent - w->pad_begin[d] - w->pad_end[d];
    if (w->in[d] < 0)
        return infer_fail(infer, "pads of %lld and %lld leave nothing of an output of %lld",
                          (long long)w->pad_begin[d], (long long)w->pad_end[d], (long long)extent);
    return true;
}

static bool infer_sizes(struct infer *infer, uint32_t rank, struct window *w)
{
    const struct backprop_attrs *attrs = infer->attrs;
    struct i64_list sizes = {0};
    int64_t output_padding[3], extent;
    if (!infer_window_list(infer, "output_padding", &attrs->output_padding, rank, 0, 0,
                           output_padding))
        return false;
    if (infer->n_inputs > OUTPUT_SHAPE) {
        if (!infer_ints(infer, OUTPUT_SHAPE, &sizes))
            return false;
        if (sizes.n != rank)
            return infer_fail_input(infer, OUTPUT_SHAPE, "%u sizes", rank);
    }
    for (int d = 0; d < 3; d++) {
        int i = d - (3 - (int)rank);
        w->out[d] = w->in[d];
        if (!find_extent(infer, w, d, output_padding[d], &extent))
            return false;
        if (sizes.n == 0 || i < 0) {
            if (!size_dim(infer, w, d, extent, attrs->window.auto_pad))
                return false;
            continue;
        }
        if (sizes.items[i] < 0)
            return infer_fail(infer, "output_shape has %lld, expected 0 or more",
                              (long long)sizes.items[i]);
        fit_dim(w, d, extent, sizes.items[i], attrs->window.auto_pad);
    }
    return true;
}

static bool infer(struct infer *infer)
{
    uint32_t n_group_dims = *(const uint32_t *)infer->op->def->family;
    const struct irrun_shape *data = &infer->in[DATA]->shape, *filters = &infer->in[FILTERS]->shape;
    const struct backprop_attrs *attrs = infer->attrs;
    struct backprop_state *state = infer->state;
    struct window *window = &state->grouped.one.window;
    return convolution_infer_channels(infer, true) &&
           infer_window_attrs(infer, &attrs->window, data->rank - 2, data->dims + 2,
                              filters->dims + n_group_dims + 2, window) &&
           infer_sizes(infer, data->rank - 2, window) && convolution_infer_output(infer, false);
}

static uint32_t prepacks(const struct prepare *prepare, uint32_t constants)
{
    struct indirect_convolution conv;
    return convolution_wants_indirect(prepare, &conv) ? constants & 1U << FILTERS : 0;
}

static void run_group(const struct step *step, const void *in, const void *filters, void *out,
                      size_t first)
{
    const struct backprop_state *state = step->state;
    const struct convolution *c = &state->grouped.one;
    if (state->gemm)
        convolution_transposed_by_gemm(c, state->gemm, state->n_positions, in, filters, out,
                                       step->scratch);
    else
        state->grouped.direct(c, true, in, filters, out);
    epilogue_run(step->epilogue, first, (size_t)(c->c_out * convolution_n_out(&state->grouped)));
}

static bool prepare(struct prepare *prepare)
{
    struct backprop_state *state = prepare->state;
    const struct convolution *convolution = &state->grouped.one;
    if (!convolution_prepare(prepare, run_group))
        return false;
    if (prepare->prepacked != 0 || shape_n_elements(&prepare->out[0]->shape) == 0)
        return true;
    state->n_positions = convolution_transposed_n_positions(convolution);
    if (prepare->in[DATA]->dtype != IRRUN_F32 || state->n_positions < 0)
        return true;
    int64_t n_rows = convolution->c_out * window_product(convolution->window.kernel);
    state->gemm = kernels_gemm_f32(prepare->kernels, (size_t)n_rows, (size_t)state->n_positions,
                                   (size_t)convolution->c_in);
    prepare->made.scratch_bytes = (size_t)(state->n_positions * n_rows) * sizeof(float);
    return true;
}

CONVOLUTION_OP(op_convolution_backprop_data, "ConvolutionBackpropData", 0, 0, struct backprop_attrs,
               struct backprop_state);
CONVOLUTION_OP(op_group_convolution_backprop_data, "GroupConvolutionBackpropData", 1, 0,
               struct backprop_attrs, struct backprop_state);
