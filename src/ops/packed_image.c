/* Convolutions over an image with constant filters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/packed_image.h"

#include "ops/packed_matrix.h"

enum { DATA, FILTERS };

bool packed_image_is_wanted(const struct prepare *prepare, const struct convolution *convolution,
                            int64_t n_groups, bool is_transposed, struct convolution_image *image)
{
    return packed_matrix_is_allowed(prepare, DATA, FILTERS) &&
           convolution_image_plan(image, prepare->kernels->image_tiles, convolution, n_groups,
                                  is_transposed) &&
           convolution_image_is_better(image);
}

/* No panel has a layout of that number. */
#define LAYOUT_IMAGE 100

bool packed_image_pack(struct prepare *prepare, struct packed_image *packed)
{
    struct convolution_image *image = &packed->image;
    size_t n_kernel = (size_t)window_product(image->window.kernel);
    struct image_piece *pieces =
        arena_alloc_array(prepare->arena, image->n_pieces, sizeof *pieces, prepare->err);
    unsigned char *masks = arena_alloc_array(prepare->arena, n_kernel,
                                             image->is_flat ? image->mask_bytes : 0, prepare->err);
    const struct irrun_tensor *filters = prepare_constant(prepare, FILTERS);
    bool is_new;

    if (!pieces || !masks)
        return false;
    if (!convolution_image_memory(image, thread_pool_n_threads(prepare->pool),
                                  &prepare->made.scratch_bytes))
        return fail_memory(prepare->err, SIZE_MAX);
    convolution_image_lists(image, pieces, masks);
    image->pieces = pieces;
    image->masks = masks;
    float *data = prepare_pack(prepare, LAYOUT_IMAGE, image->packed_floats * sizeof *data, &is_new);
    if (data && is_new) {
        size_t n = (size_t)shape_n_elements(&filters->shape);
        const void *elements = prepare_elements(prepare, FILTERS, 0, n);
        if (!elements)
            return false;
        convolution_image_pack(image, elements, filters->dtype == IRRUN_F16, data);
    }
    packed->filters = data;
    return data != NULL;
}

void packed_image_run(const struct packed_image *packed, const struct step *step, int64_t n_batches)
{
    const struct convolution_image *image = &packed->image;
    size_t in = (size_t)(image->n_groups * image->c_in * window_product(image->window.in));
    size_t out = (size_t)(image->n_groups * image->c_out * window_product(image->out));
    for (size_t i = 0; i < (size_t)n_batches; i++)
        convolution_by_image(image, &(struct convolution_image_job){
                                        .in = (const float *)step->in[DATA]->data + i * in,
                                        .n_before = i * in,
                                        .n_behind = ((size_t)n_batches - 1 - i) * in,
                                        .packed = packed->filters,
                                        .out = (float *)step->out[0]->data + i * out,
                                        .memory = step->scratch,
                                        .pool = step->pool,
                                        .epilogue = step->epilogue,
                                        .first = i * out,
                                    });
}
