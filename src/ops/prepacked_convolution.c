/* Indirect convolutions (see indirect_convolution.h) whose filters are constant and packed once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/prepacked_convolution.h"

#include "base/checked.h"
#include "ops/prepacked_matrix.h"
#include "tensor/half.h"

enum { DATA, FILTERS };

/* Returns whether the convolution must round its input to bf16, because --precision=bf16 rounded
 * its filters. Such a convolution is packed even if other options disable packing. */
static bool must_round(const struct prepare *prepare)
{
    enum irrun_dtype dtype = prepare->in[DATA]->dtype;
    const struct irrun_shape *filters = &prepare->in[FILTERS]->shape;
    return (prepare->op->def->flags & OP_MULTIPLIES_BF16) && kernels_must_pack(prepare->kernels) &&
           (dtype == IRRUN_F32 || dtype == IRRUN_F16) &&
           filters->dims[1] >= CONVOLUTION_MIN_ROUNDED;
}

bool prepacked_convolution_is_wanted(const struct prepare *prepare,
                                     const struct convolution *convolution, int64_t n_groups,
                                     bool is_transposed, struct indirect_convolution *conv)
{
    const struct igemm_microkernels *microkernels = prepare->kernels->igemm_f32;
    if (!must_round(prepare))
        return prepacked_matrix_is_allowed(prepare) &&
               indirect_convolution_choose(conv, microkernels, convolution, n_groups,
                                           is_transposed);
    bool any_channels_last = convolution->in_pixel_stride > 0 || convolution->out_pixel_stride > 0;
    return indirect_convolution_choose(conv, microkernels, convolution, 1, false) ||
           indirect_convolution_plan(conv, microkernels, convolution, 1, false, any_channels_last);
}

/* Adds room for a bf16-rounded copy of one batch element's input to the scratch memory. */
static bool reserve_rounded_input(struct prepacked_convolution *packed, size_t *scratch_bytes)
{
    size_t n = packed->conv.n_channels, n_bytes;
    packed->rounds_input = true;
    packed->rounded_offset = *scratch_bytes / sizeof(float);
    return checked_mul(n, (size_t)window_product(packed->conv.window.in), &n) &&
           checked_mul(n, sizeof(float), &n_bytes) &&
           checked_add(*scratch_bytes, n_bytes, scratch_bytes);
}

bool prepacked_convolution_pack(struct prepare *prepare, const struct convolution *convolution,
                                struct prepacked_convolution *packed)
{
    struct indirect_convolution *conv = &packed->conv;
    enum weight_type type = prepare_weight_type(prepare, FILTERS);
    bool is_rounded = type == WEIGHTS_BF16 && must_round(prepare);
    if (is_rounded)
        indirect_convolution_choose_pairs(conv, prepare->kernels->igemm_f32, convolution);
    size_t n_kernel = (size_t)window_product(conv->window.kernel);
    struct indirection *indirection =
        arena_alloc_array(prepare->arena, conv->n_indirections, sizeof *indirection, prepare->err);
    int32_t *positions =
        arena_alloc_array(prepare->arena, conv->n_positions, sizeof *positions, prepare->err);
    unsigned char *masks =
        arena_alloc_array(prepare->arena, n_kernel, conv->mask_bytes, prepare->err);
    const struct irrun_tensor *filters = prepare_constant(prepare, FILTERS);
    bool is_new;
    if (!indirection || !positions || !masks)
        return false;
    if (!indirect_convolution_scratch(conv, thread_pool_n_threads(prepare->pool),
                                      &prepare->made.scratch_bytes) ||
        (is_rounded && !conv->has_pairs &&
         !reserve_rounded_input(packed, &prepare->made.scratch_bytes)))
        return fail_memory(prepare->err, SIZE_MAX);
    indirect_convolution_fill(conv, indirection, positions, masks);
    uint32_t layout = conv->has_pairs           ? LAYOUT_PAIRS
                      : conv->tile[0] > 0       ? LAYOUT_WINOGRAD
                      : conv->channels_in_lanes ? LAYOUT_CHANNELS
                                                : LAYOUT_POSITIONS;
    /* The order in which products are added, and so the layout, may depend on the size of the
     * image. */
    layout |= (uint32_t)terms_are_by_tap(conv) << 8 | (uint32_t)conv->subconvolutions[0].kc << 9;
    float *data = prepare_prepacked(prepare, layout, conv->packed_floats * sizeof *data, &is_new);
    if (data && is_new) {
        size_t n = (size_t)shape_n_elements(&filters->shape);
        const void *elements = prepare_elements(prepare, FILTERS, 0, n);
        if (!elements)
            return false;
        indirect_convolution_pack(conv, elements, type, data);
    }
    packed->filters = data;
    return data != NULL;
}

void prepacked_convolution_run(const struct prepacked_convolution *packed, const struct step *step,
                               int64_t n_batches)
{
    const struct indirect_convolution *conv = &packed->conv;
    size_t in = conv->n_channels * (size_t)window_product(conv->window.in);
    size_t n_out = conv->pooling ? conv->pooling->n[0] * conv->pooling->n[1]
                                 : (size_t)window_product(conv->out);
    size_t out = (size_t)(conv->n_groups * conv->c_out) * n_out;
    for (size_t i = 0; i < (size_t)n_batches; i++) {
        struct indirect_convolution_job job = {
            .in = (const float *)step->in[DATA]->data + i * in,
            .n_before = i * in,
            .n_after = ((size_t)n_batches - 1 - i) * in,
            .packed = packed->filters,
            .out = (float *)step->out[0]->data + i * out,
            .scratch = step->scratch,
            .pool = step->pool,
            .epilogue = step->epilogue,
            .first = i * out,
        };
        if (packed->rounds_input) {
            float *rounded = (float *)step->scratch + packed->rounded_offset;
            bf16_round_n(job.in, rounded, in);
            job.in = rounded;
            job.n_before = job.n_after = 0;
        }
        indirect_convolution_run(conv, &job);
    }
}
