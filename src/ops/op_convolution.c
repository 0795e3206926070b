/* Convolution-1 and GroupConvolution-1 over one to three spatial dimensions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/convolution_common.h"
#include "ops/packed_matrix.h"
#include "ops/prepacked_convolution.h"
#include "ops/window.h"

enum { DATA, FILTERS };

struct convolution_attrs {
    struct window_attrs window;
};

struct convolution_state {
    struct convolution convolution; /* of one group */
    struct convolution_groups groups;
    int64_t n_patches;    /* at a time; 0 and -1 as convolution_n_patches says */
    gemm_f32_fn *gemm;    /* NULL: the direct loops */
    struct panels panels; /* the filters, if they are constant and packed: data is NULL otherwise */
    size_t patches_bytes; /* scratch: the patches, then their products */
    struct prepacked_convolution packed;
    convolution_fn *direct;
};

static const struct attr_def attr_table[] = {
    WINDOW_ATTRS(struct convolution_attrs),
    ATTR_NAMED(struct convolution_attrs, window.dilations, "dilations", NULL),
    ATTR_END,
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER, .same = 1},
    {"filters", .types = TYPES_NUMBER, .same = 1},
    {.name = NULL},
};

static bool infer(struct infer *infer)
{
    uint32_t n_leading = *(const uint32_t *)infer->op->def->family;
    const struct irrun_shape *data = &infer->in[DATA]->shape, *filters = &infer->in[FILTERS]->shape;
    const struct convolution_attrs *attrs = infer->attrs;
    struct convolution_state *state = infer->state;
    struct window *window = &state->convolution.window;
    return convolution_infer_channels(infer, false, &state->convolution, &state->groups) &&
           infer_window(infer, &attrs->window, data->rank - 2, data->dims + 2,
                        filters->dims + n_leading + 2, window) &&
           convolution_infer_output(infer, &state->convolution, &state->groups, window->out);
}

/* The filters of one group are one matrix. */
static bool wants_panels(const struct prepare *prepare)
{
    const struct convolution_state *state = prepare->state;
    const struct convolution *convolution = &state->convolution;

    return state->groups.n_groups == 1 && convolution_n_panel_patches(convolution) > 0 &&
           packed_matrix_is_wanted(prepare, DATA, FILTERS, (size_t)convolution->c_out);
}

static bool wants_indirect(const struct prepare *prepare, struct indirect_convolution *conv)
{
    const struct convolution_state *state = prepare->state;
    return prepacked_convolution_is_wanted(prepare, &state->convolution, state->groups.n_groups,
                                           false, conv);
}

static uint32_t packs(const struct prepare *prepare, uint32_t constants)
{
    struct indirect_convolution conv;
    return wants_indirect(prepare, &conv) || wants_panels(prepare) ? constants & 1U << FILTERS : 0;
}

static bool pack(struct prepare *prepare)
{
    struct convolution_state *state = prepare->state;
    const struct convolution *c = &state->convolution;
    size_t n_terms = (size_t)(c->c_in * window_product(c->window.kernel)), products_bytes;
    state->n_patches = convolution_n_panel_patches(c);
    size_t n = (size_t)state->n_patches;
    if (!checked_mul(n * sizeof(float), n_terms, &state->patches_bytes) ||
        !checked_mul(n * sizeof(float), (size_t)c->c_out, &products_bytes) ||
        !checked_add(state->patches_bytes, products_bytes, &prepare->made.scratch_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    return packed_matrix_pack(prepare, FILTERS, n_terms, (size_t)c->c_out, true, n, &state->panels);
}

static bool prepare(struct prepare *prepare)
{
    struct convolution_state *state = prepare->state;
    const struct convolution *convolution = &state->convolution;
    prepare_epilogue(prepare);
    if (prepare->packed != 0) {
        prepare->made.epilogue.bias =
            (struct repetition){(size_t)window_product(convolution->window.out),
                                (size_t)(convolution->c_out * state->groups.n_groups)};
        return wants_indirect(prepare, &state->packed.conv)
                   ? prepacked_convolution_pack(prepare, &state->packed)
                   : pack(prepare);
    }
    int64_t n_terms = convolution->c_in * window_product(convolution->window.kernel);
    state->direct = convolution_direct(prepare->in[DATA]->dtype);
    state->n_patches = convolution_n_patches(convolution);
    if (prepare->in[DATA]->dtype != IRRUN_F32 || state->n_patches < 0)
        return true;
    int64_t n = state->n_patches ? state->n_patches : window_product(convolution->window.out);
    state->gemm =
        kernels_gemm_f32(prepare->kernels, (size_t)convolution->c_out, (size_t)n, (size_t)n_terms);
    prepare->made.scratch_bytes = (size_t)(state->n_patches * n_terms) * sizeof(float);
    return true;
}

static void convolve(const struct step *step, const void *in, const void *filters, void *out,
                     size_t first)
{
    const struct convolution_state *state = step->state;
    const struct convolution *c = &state->convolution;
    struct convolution_job job = {
        .n_patches = state->n_patches,
        .in = in,
        .out = out,
        .patches = step->scratch,
        .epilogue = step->epilogue,
        .first = first,
    };
    if (state->panels.data) {
        convolution_by_panels(c, &state->panels, &job,
                              (void *)((char *)step->scratch + state->patches_bytes));
    } else if (state->gemm) {
        convolution_by_gemm(c, state->gemm, filters, &job);
    } else {
        state->direct(c, false, in, filters, out);
        epilogue_run(step->epilogue, first, (size_t)(c->c_out * window_product(c->window.out)));
    }
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct convolution_state *state = step->state;
    const struct window *window = &state->convolution.window;
    if (shape_n_elements(&step->out[0]->shape) == 0)
        return true;
    if (state->packed.filters)
        prepacked_convolution_run(&state->packed, step, state->groups.n_batches);
    else
        convolution_walk(step, &state->convolution, &state->groups, window_product(window->in),
                         window_product(window->out), convolve);
    return true;
}

#define CONVOLUTION_OP(object, type_, n_leading)                                                   \
    const struct op_def object = {                                                                 \
        .type = type_,                                                                             \
        .opset = 1,                                                                                \
        .inputs = inputs,                                                                          \
        .n_outputs = 1,                                                                            \
        .attrs = attr_table,                                                                       \
        .attrs_size = sizeof(struct convolution_attrs),                                            \
        .state_size = sizeof(struct convolution_state),                                            \
        .family = &(const uint32_t){n_leading},                                                    \
        .infer = infer,                                                                            \
        .packs = packs,                                                                            \
        .prepare = prepare,                                                                        \
        .run = run,                                                                                \
    }

CONVOLUTION_OP(op_convolution, "Convolution", 0);
CONVOLUTION_OP(op_group_convolution, "GroupConvolution", 1);
