/* Indirect convolutions with constant filters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/prepacked_convolution.h"

#include "ops/prepacked_matrix.h"

enum { DATA, FILTERS };

bool prepacked_convolution_is_wanted(const struct prepare *prepare,
                                     const struct convolution *convolution, int64_t n_groups,
                                     bool is_transposed, struct indirect_convolution *conv)
{
    return prepacked_matrix_is_allowed(prepare, DATA, FILTERS) &&
           indirect_convolution_choose(conv, prepare->kernels->igemm_f32, convolution, n_groups,
                                       is_transposed);
}

bool prepacked_convolution_pack(struct prepare *prepare, struct prepacked_convolution *packed)
{
    struct indirect_convolution *conv = &packed->conv;
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
                                      &prepare->made.scratch_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    indirect_convolution_fill(conv, indirection, positions, masks);
    uint32_t layout = conv->tile[0] > 0      ? LAYOUT_WINOGRAD
                      : conv->is_by_channels ? LAYOUT_CHANNELS
                                             : LAYOUT_POSITIONS;
    float *data = prepare_prepacked(prepare, layout, conv->packed_floats * sizeof *data, &is_new);
    if (data && is_new) {
        size_t n = (size_t)shape_n_elements(&filters->shape);
        const void *elements = prepare_elements(prepare, FILTERS, 0, n);
        if (!elements)
            return false;
        indirect_convolution_pack(conv, elements, filters->dtype == IRRUN_F16, data);
    }
    packed->filters = data;
    return data != NULL;
}

void prepacked_convolution_run(const struct prepacked_convolution *packed, const struct step *step,
                               int64_t n_batches)
{
    const struct indirect_convolution *conv = &packed->conv;
    size_t in = (size_t)(conv->n_groups * conv->c_in * window_product(conv->window.in));
    size_t out = (size_t)(conv->n_groups * conv->c_out * window_product(conv->out));
    for (size_t i = 0; i < (size_t)n_batches; i++)
        indirect_convolution_run(conv, &(struct indirect_convolution_job){
                                           .in = (const float *)step->in[DATA]->data + i * in,
                                           .n_before = i * in,
                                           .n_behind = ((size_t)n_batches - 1 - i) * in,
                                           .packed = packed->filters,
                                           .out = (float *)step->out[0]->data + i * out,
                                           .scratch = step->scratch,
                                           .pool = step->pool,
                                           .epilogue = step->epilogue,
                                           .first = i * out,
                                       });
}
