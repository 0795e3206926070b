/* The weights of a convolution over an image, in the order in which tiles read them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution_image.h"
#include "tensor/half.h"

struct packing {
    const struct convolution_image *image;
    const struct image_part *part;
    const unsigned char *weights; /* of a group */
    bool is_f16;
};

static void read_weights(const struct packing *packing, size_t first, size_t n, float *to)
{
    if (packing->is_f16)
        f16_to_f32_n(packing->weights + first * sizeof(uint16_t), to, n);
    else
        memcpy(to, packing->weights + first * sizeof(float), n * sizeof *to);
}

/* Where the weight of element i of a part with its phase `phase` is in a filter. */
static size_t find_transposed(const struct packing *packing, size_t phase, size_t i)
{
    const struct convolution_image *image = packing->image;
    const struct image_part *part = packing->part;
    int64_t n_elements[3], f[3], j[3], at = 0;
    convolution_image_elements(image, part, n_elements);
    convolution_image_place(part->n_phases, (int64_t)phase, f);
    convolution_image_place(n_elements, (int64_t)i, j);
    for (int d = 0; d < 3; d++)
        at = at * image->kernel[d] + part->first_phase[d] + f[d] +
             (n_elements[d] - 1 - j[d]) * image->spread[d];
    return (size_t)at;
}

static void read_transposed(const struct packing *packing, size_t row, size_t begin, size_t n,
                            float *to)
{
    const struct convolution_image *image = packing->image;
    size_t n_phases = (size_t)window_product(packing->part->n_phases);
    size_t n_elements = packing->part->k / (size_t)image->c_in;
    size_t n_kernel = (size_t)window_product(image->kernel);
    for (size_t k = begin; k < begin + n; k++) {
        size_t filter = k / n_elements * (size_t)image->c_out + row / n_phases;
        size_t at = find_transposed(packing, row % n_phases, k % n_elements);
        read_weights(packing, filter * n_kernel + at, 1, to++);
    }
}

/* Terms begin ... begin + n - 1 of a row, zeros beyond the last row. */
static void read_terms(const struct packing *packing, size_t row, size_t begin, size_t n, float *to)
{
    const struct image_part *part = packing->part;
    size_t n_rows = (size_t)(packing->image->c_out * window_product(part->n_phases));
    if (row >= n_rows)
        memset(to, 0, n * sizeof *to);
    else if (packing->image->is_transposed)
        read_transposed(packing, row, begin, n, to);
    else
        read_weights(packing, row * part->k + begin, n, to);
}

/* The terms of a block for the rows of all tiles. */
static float *pack_block(const struct packing *packing, size_t begin, size_t n, float *packed)
{
    const struct image_part *part = packing->part;
    float lines[IMAGE_MAX_ROWS][IMAGE_BLOCK_K];
    for (size_t first = 0; first < part->n_blocks * part->rows; first += part->rows) {
        for (size_t row = 0; row < part->rows; row++)
            read_terms(packing, first + row, begin, n, lines[row]);
        for (size_t k = 0; k < n; k++)
            for (size_t row = 0; row < part->rows; row++)
                *packed++ = lines[row][k];
    }
    return packed;
}

void convolution_image_pack(const struct convolution_image *image, const void *weights, bool is_f16,
                            float *packed)
{
    size_t n_weights = (size_t)(image->c_out * image->c_in * window_product(image->kernel));
    size_t size = is_f16 ? sizeof(uint16_t) : sizeof(float);
    for (const struct image_part *part = image->parts; part < image->parts + image->n_parts; part++)
        for (size_t group = 0; group < (size_t)image->n_groups; group++) {
            const unsigned char *filters = (const unsigned char *)weights;
            struct packing packing = {image, part, filters + group * n_weights * size, is_f16};
            for (size_t begin = 0, n; begin < part->k; begin += n) {
                n = part->k - begin < part->block_k ? part->k - begin : part->block_k;
                packed = pack_block(&packing, begin, n, packed);
            }
        }
}
