/* Convolution-1 and GroupConvolution-1 over one to three spatial dimensions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/grouped_convolution.h"
#include "ops/window.h"

enum { DATA, FILTERS };

struct convolution_state {
    struct grouped_convolution grouped;
    int64_t n_patches; /* copied at a time; 0: read in place; -1: the direct loops */
    gemm_f32_fn *gemm; /* NULL: the direct loops */
};

static const struct attr_def attr_table[] = {
    WINDOW_ATTRS(struct convolution_attrs),
    ATTR_NAMED(struct convolution_attrs, window.dilations, "dilations", NULL),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER, .same = 1},
    {"filters", .types = TYPES_NUMBER, .same = 1},
};

static bool infer(struct infer *infer)
{
    uint32_t n_group_dims = *(const uint32_t *)infer->op->def->family;
    const struct irrun_shape *data = &infer->in[DATA]->shape, *filters = &infer->in[FILTERS]->shape;
    const struct convolution_attrs *attrs = infer->attrs;
    struct convolution_state *state = infer->state;
    struct window *window = &state->grouped.one.window;
    state->grouped.one.in_pixel_stride = attrs->in_channels_last;
    state->grouped.one.out_pixel_stride = attrs->out_channels_last;
    return convolution_infer_channels(infer, false) &&
           infer_window(infer, &attrs->window, data->rank - 2,
                        data->dims + (attrs->in_channels_last ? 1 : 2),
                        filters->dims + n_group_dims + 2, window) &&
           convolution_infer_output(infer, attrs->out_channels_last);
}

static uint32_t prepacks(const struct prepare *prepare, uint32_t constants)
{
    struct indirect_convolution conv;
    bool is_wanted = convolution_wants_depthwise(prepare)
                         ? convolution_wants_packed_depthwise(prepare)
                         : convolution_wants_indirect(prepare, &conv);
    return is_wanted ? constants & 1U << FILTERS : 0;
}

static void run_group(const struct step *step, const void *in, const void *filters, void *out,
                      size_t first)
{
    const struct convolution_state *state = step->state;
    const struct convolution *c = &state->grouped.one;
    struct convolution_job job = {
        .n_patches = state->n_patches,
        .in = in,
        .out = out,
        .patches = step->scratch,
        .epilogue = step->epilogue,
        .first = first,
    };
    if (state->gemm) {
        convolution_by_gemm(c, state->gemm, filters, &job);
    } else {
        state->grouped.direct(c, false, in, filters, out);
        if (c->out_pixel_stride == 0)
            epilogue_run(step->epilogue, first,
                         (size_t)(c->c_out * convolution_n_out(&state->grouped)));
    }
}

static bool prepare(struct prepare *prepare)
{
    struct convolution_state *state = prepare->state;
    const struct convolution *convolution = &state->grouped.one;
    if (!convolution_prepare(prepare, run_group))
        return false;
    if (prepare->prepacked != 0 && !state->grouped.is_depthwise)
        prepare->made.convolution = &state->grouped.packed.conv;
    if (state->grouped.is_depthwise || prepare->prepacked != 0 ||
        convolution->in_pixel_stride > 0 || convolution->out_pixel_stride > 0)
        return true;
    int64_t n_terms = convolution->c_in * window_product(convolution->window.kernel);
    state->n_patches = convolution_n_patches(convolution);
    if (prepare->in[DATA]->dtype != IRRUN_F32 || state->n_patches < 0)
        return true;
    int64_t n = state->n_patches ? state->n_patches : convolution_n_out(&state->grouped);
    state->gemm =
        kernels_gemm_f32(prepare->kernels, (size_t)convolution->c_out, (size_t)n, (size_t)n_terms);
    prepare->made.scratch_bytes = (size_t)(state->n_patches * n_terms) * sizeof(float);
    return true;
}

CONVOLUTION_OP(op_convolution, "Convolution", 0, OP_MULTIPLIES_BF16, struct convolution_attrs,
               struct convolution_state);
CONVOLUTION_OP(op_group_convolution, "GroupConvolution", 1, 0, struct convolution_attrs,
               struct convolution_state);
