/* Convolution-1 and GroupConvolution-1 over one to three spatial dimensions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/packed_image.h"
#include "ops/packed_matrix.h"
#include "ops/window.h"

enum { DATA, FILTERS };

struct convolution_attrs {
    struct window_attrs window;
};

struct convolution_state {
    struct convolution convolution; /* of one group */
    int64_t n_batches, n_groups;
    int64_t n_patches;    /* at a time; 0 and -1 as convolution_n_patches says */
    gemm_f32_fn *gemm;    /* NULL: the direct loops */
    struct panels panels; /* the filters, if they are constant and packed: data is NULL otherwise */
    size_t patches_bytes; /* scratch: the patches, then their products */
    struct packed_image packed;
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

/* family is the number of dimensions of the filters before c_out: 1 for the groups. */
static bool infer(struct infer *infer)
{
    uint32_t n_leading = *(const uint32_t *)infer->op->def->family;
    const struct irrun_shape *data = &infer->in[DATA]->shape, *filters = &infer->in[FILTERS]->shape;
    struct convolution_state *state = infer->state;
    struct convolution *convolution = &state->convolution;
    if (data->rank < 3 || data->rank > 5)
        return infer_fail_input(infer, DATA,
                                "3 to 5 dimensions: batch, channels, 1 to 3 spatial ones");
    if (filters->rank != data->rank + n_leading)
        return infer_fail_input(infer, FILTERS, "%u dimensions", data->rank + n_leading);
    state->n_batches = data->dims[0];
    state->n_groups = n_leading ? filters->dims[0] : 1;
    convolution->c_out = filters->dims[n_leading];
    convolution->c_in = filters->dims[n_leading + 1];
    int64_t c_in, c_out;
    if (!checked_mul_i64(convolution->c_in, state->n_groups, &c_in) || c_in != data->dims[1]) {
        infer_fail_input(infer, FILTERS, "filters for %lld input channels",
                         (long long)data->dims[1]);
        return infer_hint_input(infer, DATA);
    }
    uint32_t rank = data->rank - 2;
    if (!infer_window(infer, &((const struct convolution_attrs *)infer->attrs)->window, rank,
                      data->dims + 2, filters->dims + n_leading + 2, &convolution->window))
        return false;
    if (!checked_mul_i64(convolution->c_out, state->n_groups, &c_out))
        return infer_fail(infer, "the output has too many channels");
    struct irrun_shape out = {.rank = data->rank, .dims = {state->n_batches, c_out}};
    for (uint32_t i = 0; i < rank; i++)
        out.dims[2 + i] = convolution->window.out[3 - rank + i];
    return infer_output(infer, 0, infer->in[DATA]->dtype, &out);
}

/* The filters of one group are one matrix. */
static bool wants_panels(const struct prepare *prepare)
{
    const struct convolution_state *state = prepare->state;
    const struct convolution *convolution = &state->convolution;

    return state->n_groups == 1 && convolution_n_panel_patches(convolution) > 0 &&
           packed_matrix_is_wanted(prepare, DATA, FILTERS, (size_t)convolution->c_out);
}

static bool wants_image(const struct prepare *prepare, struct convolution_image *image)
{
    const struct convolution_state *state = prepare->state;
    return packed_image_is_wanted(prepare, &state->convolution, state->n_groups, false, image);
}

static uint32_t packs(const struct prepare *prepare, uint32_t constants)
{
    struct convolution_image image;
    return wants_image(prepare, &image) || wants_panels(prepare) ? constants & 1U << FILTERS : 0;
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
        !checked_add(state->patches_bytes, products_bytes, &prepare->scratch_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    return packed_matrix_pack(prepare, FILTERS, n_terms, (size_t)c->c_out, true, n, &state->panels);
}

static bool prepare(struct prepare *prepare)
{
    struct convolution_state *state = prepare->state;
    const struct convolution *convolution = &state->convolution;
    prepare_epilogue(prepare);
    if (prepare->packed != 0) {
        prepare->finishing.bias =
            (struct repetition){(size_t)window_product(convolution->window.out),
                                (size_t)(convolution->c_out * state->n_groups)};
        return wants_image(prepare, &state->packed.image)
                   ? packed_image_pack(prepare, &state->packed)
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
    prepare->scratch_bytes = (size_t)(state->n_patches * n_terms) * sizeof(float);
    return true;
}

/* One group of one batch element; `first` is the number of out's first element in the whole
 * result. */
static void convolve(const struct step *step, const char *in, const char *filters, char *out,
                     size_t first)
{
    const struct convolution_state *state = step->state;
    const struct convolution *c = &state->convolution;
    struct convolution_job job = {
        .n_patches = state->n_patches,
        .in = (const void *)in,
        .out = (void *)out,
        .patches = step->scratch,
        .epilogue = step->epilogue,
        .first = first,
    };
    if (state->panels.data) {
        convolution_by_panels(c, &state->panels, &job,
                              (void *)((char *)step->scratch + state->patches_bytes));
    } else if (state->gemm) {
        convolution_by_gemm(c, state->gemm, (const void *)filters, &job);
    } else {
        state->direct(c, in, filters, out);
        epilogue_run(step->epilogue, first, (size_t)(c->c_out * window_product(c->window.out)));
    }
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct convolution_state *state = step->state;
    const struct convolution *c = &state->convolution;
    size_t size = dtype_size(step->in[DATA]->dtype);
    size_t in_bytes = (size_t)(c->c_in * window_product(c->window.in)) * size;
    size_t n_out = (size_t)(c->c_out * window_product(c->window.out)), first = 0;
    size_t filter_bytes = (size_t)(c->c_out * c->c_in * window_product(c->window.kernel)) * size;
    const char *in = step->in[DATA]->data;
    char *out = step->out[0]->data;
    if (shape_n_elements(&step->out[0]->shape) == 0)
        return true;
    if (state->packed.filters) {
        packed_image_run(&state->packed, step, state->n_batches);
        return true;
    }
    for (int64_t batch = 0; batch < state->n_batches; batch++) {
        const char *filters = step->in[FILTERS]->data;
        for (int64_t group = 0; group < state->n_groups; group++) {
            convolve(step, in, filters, out + first * size, first);
            in += in_bytes;
            filters += filter_bytes;
            first += n_out;
        }
    }
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
