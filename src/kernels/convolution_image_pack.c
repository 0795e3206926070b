/* The weights of a convolution over an image, in the order in which tiles read them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution_image.h"
#include "tensor/half.h"

struct packing {
    const struct convolution_image *image;
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

/* Where the weight of term i of a kernel with phase `phase` is in a filter; -1: it is zero. */
static int64_t find_transposed(const struct convolution_image *image, int64_t phase, int64_t i)
{
    int64_t f[3], j[3], at = 0;
    convolution_image_place(image->spread, phase, f);
    convolution_image_place(image->window.kernel, i, j);
    for (int d = 0; d < 3; d++) {
        int64_t k = f[d] + (image->window.kernel[d] - 1 - j[d]) * image->spread[d];
        if (k >= image->kernel[d])
            return -1;
        at = at * image->kernel[d] + k;
    }
    return at;
}

static void read_transposed(const struct packing *packing, size_t row, size_t begin, size_t n,
                            float *to)
{
    const struct convolution_image *image = packing->image;
    size_t n_phases = (size_t)window_product(image->spread);
    size_t n_terms = (size_t)window_product(image->window.kernel);
    size_t n_kernel = (size_t)window_product(image->kernel);
    for (size_t i = 0; i < n; i++) {
        size_t k = begin + i;
        int64_t at = find_transposed(image, (int64_t)(row % n_phases), (int64_t)(k % n_terms));
        size_t filter = k / n_terms * (size_t)image->c_out + row / n_phases;
        to[i] = 0;
        if (at >= 0)
            read_weights(packing, filter * n_kernel + (size_t)at, 1, to + i);
    }
}

/* Terms begin ... begin + n - 1 of a row, zeros beyond the last row. */
static void read_terms(const struct packing *packing, size_t row, size_t begin, size_t n, float *to)
{
    const struct convolution_image *image = packing->image;
    size_t n_rows = (size_t)(image->c_out * window_product(image->spread));
    if (row >= n_rows)
        memset(to, 0, n * sizeof *to);
    else if (image->is_transposed)
        read_transposed(packing, row, begin, n, to);
    else
        read_weights(packing, row * image->k + begin, n, to);
}

/* The terms of a block for the rows of all tiles. */
static float *pack_block(const struct packing *packing, size_t begin, size_t n, float *packed)
{
    const struct convolution_image *image = packing->image;
    float lines[IMAGE_MAX_ROWS][IMAGE_BLOCK_K];
    for (size_t first = 0; first < image->n_blocks * image->rows; first += image->rows) {
        for (size_t row = 0; row < image->rows; row++)
            read_terms(packing, first + row, begin, n, lines[row]);
        for (size_t k = 0; k < n; k++)
            for (size_t row = 0; row < image->rows; row++)
                *packed++ = lines[row][k];
    }
    return packed;
}

void convolution_image_pack(const struct convolution_image *image, const void *weights, bool is_f16,
                            float *packed)
{
    size_t n_weights = (size_t)(image->c_out * image->c_in * window_product(image->kernel));
    size_t size = is_f16 ? sizeof(uint16_t) : sizeof(float);
    for (size_t group = 0; group < (size_t)image->n_groups; group++) {
        struct packing packing = {image, (const unsigned char *)weights + group * n_weights * size,
                                  is_f16};
        for (size_t begin = 0, n; begin < image->k; begin += n) {
            n = image->k - begin < image->block_k ? image->k - begin : image->block_k;
            packed = pack_block(&packing, begin, n, packed);
        }
    }
}
