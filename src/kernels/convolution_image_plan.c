/* The geometry of a convolution over an image.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "kernels/convolution_image.h"

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static void plan_ordinary(struct convolution_image *image, const struct window *w)
{
    image->window = *w;
    for (int d = 0; d < 3; d++) {
        image->spread[d] = 1;
        image->out[d] = w->out[d];
    }
}

/* Output e - pad = o * s + k, with e = q * s + f and k = f + j * s, is what position q sees at o =
 * q - j. */
static bool plan_transposed(struct convolution_image *image, const struct window *w)
{
    struct window *window = &image->window;
    for (int d = 0; d < 3; d++) {
        int64_t s = w->stride[d];
        if ((w->dilation[d] != 1 && w->kernel[d] != 1) || w->pad_begin[d] < 0)
            return false;
        image->spread[d] = s;
        image->skipped[d] = w->pad_begin[d];
        image->out[d] = w->in[d];
        window->in[d] = w->out[d];
        window->out[d] = (w->in[d] + w->pad_begin[d] + s - 1) / s;
        window->kernel[d] = (w->kernel[d] + s - 1) / s;
        window->stride[d] = window->dilation[d] = 1;
        window->pad_begin[d] = window->kernel[d] - 1;
        if (window->out[d] < 1)
            return false;
    }
    return true;
}

static bool plan_planes(struct convolution_image *image)
{
    const struct window *w = &image->window;
    size_t floats = 1;
    for (int d = 0; d < 3; d++) {
        int64_t reach = (w->kernel[d] - 1) * w->dilation[d];
        image->n_planes[d] = reach + 1 < w->stride[d] ? reach + 1 : w->stride[d];
        image->plane[d] = w->out[d] + reach / w->stride[d];
        if (!checked_mul(floats, (size_t)image->n_planes[d], &floats) ||
            !checked_mul(floats, (size_t)image->plane[d], &floats))
            return false;
    }
    image->channel = floats;
    /* The last tile looks beyond the last position. */
    return checked_mul(floats, (size_t)(image->c_in * image->n_groups), &floats) &&
           checked_add(floats, IMAGE_MAX_WIDTH, &image->image_floats) &&
           image->image_floats <= INT32_MAX;
}

#define MASKS_BYTES (1 << 20) /* what an L2 cache holds */

/* The input as the image: its positions are a line. A kernel that reaches further than twice the
 * input is none that one meets; so offsets stay within some 30 times a channel. */
static bool plan_flat(struct convolution_image *image)
{
    struct window *w = &image->window;
    int64_t n = window_product(w->in);
    bool is_flat = !image->is_transposed && n <= INT32_MAX / (image->c_in + 30) &&
                   n / 8 <= MASKS_BYTES / window_product(w->kernel);
    for (int d = 0; d < 3; d++)
        is_flat &= w->stride[d] == 1 && w->in[d] == w->out[d] &&
                   w->dilation[d] <= 2 * w->in[d] / w->kernel[d] + 1 &&
                   w->pad_begin[d] <= 2 * w->in[d] && w->pad_begin[d] >= -w->in[d];
    if (!is_flat)
        return false;
    image->is_flat = true;
    image->channel = (size_t)n;
    for (int d = 0; d < 3; d++) {
        image->sizes[d] = w->in[d];
        image->lowest = image->lowest * w->in[d] - w->pad_begin[d];
        image->highest =
            image->highest * w->in[d] + (w->kernel[d] - 1) * w->dilation[d] - w->pad_begin[d];
        image->n_planes[d] = 1;
        image->plane[d] = w->in[d] = w->out[d] = image->out[d] = d < 2 ? 1 : n;
    }
    image->highest += (image->c_in - 1) * n;
    return true;
}

/* Phases and elements of a part: in each dimension those that all elements of window.kernel meet,
 * or, if is_short, those that the first, which is the last of a filter, does not. */
static bool plan_part(const struct convolution_image *image, const bool is_short[3],
                      struct image_part *part)
{
    int64_t n_elements[3];
    *part = (struct image_part){0};
    for (int d = 0; d < 3; d++) {
        int64_t spread = image->spread[d], n = image->window.kernel[d];
        int64_t n_long = image->is_transposed ? image->kernel[d] - (n - 1) * spread : spread;
        part->first_phase[d] = is_short[d] ? n_long : 0;
        part->n_phases[d] = is_short[d] ? spread - n_long : n_long;
        part->first_element[d] = is_short[d];
        if (part->n_phases[d] == 0)
            return false;
    }
    convolution_image_elements(image, part, n_elements);
    part->k = (size_t)(image->c_in * window_product(n_elements));
    return true;
}

static bool plan_tiles(struct convolution_image *image, const struct image_tiles *tiles,
                       struct image_part *part)
{
    const struct window *w = &image->window;
    size_t n_rows = (size_t)image->c_out, most = 1, n_sums, n_weights;
    for (int d = 0; d < 3; d++)
        if (!checked_mul(n_rows, (size_t)part->n_phases[d], &n_rows) || n_rows > UINT32_MAX)
            return false;
    while (most < IMAGE_MAX_ROWS && tiles->tiles[TILE_WHOLE][most + 1])
        most++;
    part->n_blocks = divide_up(n_rows, most);
    part->rows = divide_up(n_rows, part->n_blocks);
    part->width = tiles->widths[part->rows];
    for (int kind = 0; kind < N_TILE_KINDS; kind++)
        part->tiles[kind] = tiles->tiles[kind][part->rows];
    int64_t last =
        ((w->out[0] - 1) * image->plane[1] + w->out[1] - 1) * image->plane[2] + w->out[2] - 1;
    part->n_tiles = divide_up((size_t)last + 1, part->width);
    part->block_k = part->k > 0 ? divide_up(part->k, divide_up(part->k, IMAGE_BLOCK_K)) : 0;
    part->first_piece = image->n_pieces;
    part->first_weight = image->packed_floats;
    n_rows = part->n_blocks * part->rows;
    if (!checked_mul(n_rows, part->width + 1, &n_sums) ||
        !checked_mul(part->k, n_rows, &n_weights) ||
        !checked_mul(n_weights, (size_t)image->n_groups, &n_weights) ||
        !checked_add(image->packed_floats, n_weights, &image->packed_floats))
        return false;
    image->sums_floats = image->sums_floats > n_sums ? image->sums_floats : n_sums;
    image->n_pieces += part->k;
    image->n_products += (double)n_weights * (double)(part->n_tiles * part->width);
    return true;
}

static bool plan_parts(struct convolution_image *image, const struct image_tiles *tiles)
{
    for (unsigned i = 0; i < IMAGE_MOST_PARTS; i++) {
        struct image_part *part = &image->parts[image->n_parts];
        if (!plan_part(image, (bool[3]){i & 4, i & 2, i & 1}, part))
            continue;
        if (!plan_tiles(image, tiles, part))
            return false;
        image->n_parts++;
    }
    image->mask_bytes = image->parts[0].n_tiles * image->parts[0].width / 8;
    return true;
}

bool convolution_image_plan(struct convolution_image *image, const struct image_tiles *tiles,
                            const struct convolution *c, int64_t n_groups, bool is_transposed)
{
    *image = (struct convolution_image){
        .n_groups = n_groups, .c_in = c->c_in, .c_out = c->c_out, .is_transposed = is_transposed};
    memcpy(image->kernel, c->window.kernel, sizeof image->kernel);
    if (!is_transposed)
        plan_ordinary(image, &c->window);
    else if (!plan_transposed(image, &c->window))
        return false;
    return c->c_in * window_product(image->window.kernel) > 0 && c->c_out > 0 && n_groups > 0 &&
           window_product(image->out) > 0 && (plan_flat(image) || plan_planes(image)) &&
           plan_parts(image, tiles);
}

/* In multiplications that vectors of 16 make. Measured: putting a patch together costs as much as
 * multiplying it with some 12 channels, ten times that if it is made of short rows; loops of
 * scalars cost 12 times what vectors do. */
bool convolution_image_is_better(const struct convolution_image *image)
{
    const struct window *w = &image->window;
    double n_out = (double)window_product(w->out), k = (double)image->parts[0].k;
    size_t c_out = (size_t)image->c_out, group = 16;
    double scalar = 12, patch = w->kernel[0] * w->kernel[1] > 1 ? 120 : 12, with_image = 0;
    for (size_t i = 0; i < image->n_parts; i++) {
        const struct image_part *part = &image->parts[i];
        with_image += (double)(part->n_tiles * part->width) *
                      (double)(part->rows * part->n_blocks + 2) * (double)part->k;
    }
    if (image->is_transposed)
        return with_image < (double)(window_product(w->in) * window_product(image->kernel) *
                                     image->c_in * image->c_out) *
                                scalar;
    if (image->n_groups == 1 && c_out >= group)
        return with_image < n_out * ((double)(divide_up(c_out, group) * group) + patch) * k;
    return with_image < n_out * (double)c_out * scalar * k;
}

bool convolution_image_memory(const struct convolution_image *image, unsigned n_threads,
                              size_t *n_bytes)
{
    return checked_mul(image->sums_floats, n_threads, n_bytes) &&
           checked_add(*n_bytes, image->image_floats, n_bytes) &&
           checked_mul(*n_bytes, sizeof(float), n_bytes);
}

void convolution_image_elements(const struct convolution_image *image,
                                const struct image_part *part, int64_t n_elements[3])
{
    for (int d = 0; d < 3; d++)
        n_elements[d] = image->window.kernel[d] - part->first_element[d];
}

void convolution_image_place(const int64_t sizes[3], int64_t i, int64_t place[3])
{
    place[0] = i / (sizes[1] * sizes[2]);
    place[1] = i / sizes[2] % sizes[1];
    place[2] = i % sizes[2];
}

/* Kernel element k in a flat image: a bit for every position that it meets inside the input. */
static void fill_mask(const struct convolution_image *image, const int64_t k[3],
                      unsigned char *mask)
{
    const struct window *w = &image->window;
    const int64_t *sizes = image->sizes;
    for (int64_t i = 0; i < (int64_t)image->channel; i++) {
        int64_t p[3];
        bool is_inside = true;
        convolution_image_place(sizes, i, p);
        for (int d = 0; d < 3; d++) {
            int64_t at = p[d] + k[d] * w->dilation[d] - w->pad_begin[d];
            is_inside &= at >= 0 && at < sizes[d];
        }
        mask[i / 8] |= (unsigned char)(is_inside << i % 8);
    }
}

/* Where kernel element k begins in a channel. */
static int64_t find_offset(const struct convolution_image *image, const int64_t k[3])
{
    const struct window *w = &image->window;
    int64_t number = 0, at = 0;
    for (int d = 0; d < 3; d++) {
        int64_t shift = k[d] * w->dilation[d];
        number = number * image->n_planes[d] + shift % w->stride[d];
        at = image->is_flat ? at * image->sizes[d] + shift - w->pad_begin[d]
                            : at * image->plane[d] + shift / w->stride[d];
    }
    return number * window_product(image->plane) + at;
}

static void list_part(const struct convolution_image *image, const struct image_part *part,
                      struct image_piece *pieces, unsigned char *masks)
{
    int64_t sizes[3], k[3];
    convolution_image_elements(image, part, sizes);
    int64_t n = window_product(sizes);
    for (int64_t i = 0; i < n; i++) {
        size_t mask = (size_t)i * image->mask_bytes;
        convolution_image_place(sizes, i, k);
        for (int d = 0; d < 3; d++)
            k[d] += part->first_element[d];
        int64_t offset = find_offset(image, k);
        for (int64_t channel = 0; channel < image->c_in; channel++)
            pieces[channel * n + i] = (struct image_piece){
                (int32_t)(channel * (int64_t)image->channel + offset), (uint32_t)mask};
        if (image->is_flat)
            fill_mask(image, k, masks + mask);
    }
}

void convolution_image_lists(const struct convolution_image *image, struct image_piece *pieces,
                             unsigned char *masks)
{
    for (size_t i = 0; i < image->n_parts; i++)
        list_part(image, &image->parts[i], pieces + image->parts[i].first_piece, masks);
}
