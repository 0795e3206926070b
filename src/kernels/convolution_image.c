/* Convolution as sums of shifted pieces of an image.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/convolution_image.h"

#include <string.h>

#include "base/checked.h"
#include "tensor/half.h"

/* As in panels.c: longer sums in one f32 would lose digits. */
#define BLOCK_K 512

/* From so many multiplications on the work is shared: some 20 us of it. */
#define SHARE_FROM 1000000

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static bool plan_planes(struct convolution_image *image)
{
    const struct window *w = &image->convolution.window;
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
    return checked_mul(floats, (size_t)(image->convolution.c_in * image->n_groups), &floats) &&
           checked_add(floats, IMAGE_MAX_WIDTH, &image->image_floats) &&
           image->image_floats <= UINT32_MAX;
}

static void plan_tiles(struct convolution_image *image, const struct image_tiles *tiles)
{
    const struct window *w = &image->convolution.window;
    size_t c_out = (size_t)image->convolution.c_out, most = 1;
    while (most < IMAGE_MAX_ROWS && tiles->tiles[most + 1])
        most++;
    image->n_blocks = divide_up(c_out, most);
    image->rows = divide_up(c_out, image->n_blocks);
    image->width = tiles->widths[image->rows];
    image->tile = tiles->tiles[image->rows];
    int64_t last =
        ((w->out[0] - 1) * image->plane[1] + w->out[1] - 1) * image->plane[2] + w->out[2] - 1;
    image->n_tiles = divide_up((size_t)last + 1, image->width);
}

/* What the ways cost per term of a sum, in multiplications of floats that vectors of 16 make. Measured:
 * putting patches together costs as much as multiplying them with 12 channels, the loops that are left where
 * there are too few channels for panels are 3 times as slow as vectors. */
bool convolution_image_is_better(const struct convolution_image *image)
{
    size_t n_out = (size_t)window_product(image->convolution.window.out);
    size_t c_out = (size_t)image->convolution.c_out, patch = 12, group = 16;
    size_t with_image = image->n_tiles * image->width * (image->rows * image->n_blocks + 2);
    size_t without = image->n_groups == 1 && c_out >= group
                         ? n_out * (divide_up(c_out, group) * group + patch)
                         : n_out * c_out * 3;
    return with_image < without;
}

bool convolution_image_plan(struct convolution_image *image, const struct image_tiles *tiles,
                            const struct convolution *convolution, int64_t n_groups)
{
    size_t weights;
    *image = (struct convolution_image){.convolution = *convolution, .n_groups = n_groups};
    image->k = (size_t)(convolution->c_in * window_product(convolution->window.kernel));
    if (image->k == 0 || convolution->c_out == 0 || n_groups == 0 ||
        window_product(convolution->window.out) == 0 || !plan_planes(image))
        return false;
    plan_tiles(image, tiles);
    return checked_mul(image->k, image->n_blocks * image->rows, &weights) &&
           checked_mul(weights, (size_t)n_groups, &image->packed_floats);
}

void convolution_image_offsets(const struct convolution_image *image, uint32_t *offsets)
{
    const struct window *w = &image->convolution.window;
    const int64_t *planes = image->n_planes, *plane = image->plane;
    for (int64_t channel = 0; channel < image->convolution.c_in; channel++) {
        for (int64_t k = 0; k < window_product(w->kernel); k++) {
            int64_t ks[3] = {k / (w->kernel[1] * w->kernel[2]), k / w->kernel[2] % w->kernel[1],
                             k % w->kernel[2]};
            int64_t number = 0, at = 0;
            for (int d = 0; d < 3; d++) {
                int64_t shift = ks[d] * w->dilation[d];
                number = number * planes[d] + shift % w->stride[d];
                at = at * plane[d] + shift / w->stride[d];
            }
            *offsets++ = (uint32_t)((size_t)channel * image->channel +
                                    (size_t)(number * window_product(plane) + at));
        }
    }
}

/* One filter into its place among the rows of a block. */
static void pack_row(const struct convolution_image *image, const unsigned char *filter,
                     bool is_f16, float *to)
{
    float numbers[64];
    size_t most = sizeof numbers / sizeof *numbers;
    for (size_t k = 0; k < image->k; k += most) {
        size_t n = image->k - k < most ? image->k - k : most;
        if (is_f16)
            f16_to_f32_n(filter + k * sizeof(uint16_t), numbers, n);
        else
            memcpy(numbers, filter + k * sizeof(float), n * sizeof(float));
        for (size_t i = 0; i < n; i++)
            to[(k + i) * image->rows] = numbers[i];
    }
}

void convolution_image_pack(const struct convolution_image *image, const void *weights, bool is_f16,
                            float *packed)
{
    size_t n_filters = (size_t)(image->convolution.c_out * image->n_groups);
    size_t c_out = (size_t)image->convolution.c_out, rows = image->rows, block = rows * image->k;
    size_t filter_bytes = image->k * (is_f16 ? sizeof(uint16_t) : sizeof(float));
    memset(packed, 0, image->packed_floats * sizeof *packed);
    for (size_t i = 0; i < n_filters; i++) {
        size_t group = i / c_out, row = i % c_out;
        pack_row(image, (const unsigned char *)weights + i * filter_bytes, is_f16,
                 packed + (group * image->n_blocks + row / rows) * block + row % rows);
    }
}

/* ---- The image ---------------------------------------------------------------------------- */

/* The positions [first, end) of a line of `size` at whose `stride`-th places from `at` on there is input. */
static void find_inside(int64_t at, int64_t stride, int64_t in, int64_t size, int64_t *first,
                        int64_t *end)
{
    *first = at < 0 ? (-at + stride - 1) / stride : 0;
    *end = in > at ? (in - at + stride - 1) / stride : 0;
    *end = *end < size ? *end : size;
    *first = *first < *end ? *first : *end;
}

static void lay_line(const struct convolution_image *image, const float *row, int64_t number,
                     float *to)
{
    const struct window *w = &image->convolution.window;
    int64_t size = image->plane[2], stride = w->stride[2], first, end;
    int64_t at = number - w->pad_begin[2];
    find_inside(at, stride, w->in[2], size, &first, &end);
    for (int64_t x = 0; x < first; x++)
        to[x] = 0;
    if (stride == 1)
        memcpy(to + first, row + at + first, (size_t)(end - first) * sizeof *to);
    else
        for (int64_t x = first; x < end; x++)
            to[x] = row[at + x * stride];
    for (int64_t x = end; x < size; x++)
        to[x] = 0;
}

/* Plane (n[0], n[1], n[2]) of a channel. */
static void lay_plane(const struct convolution_image *image, const float *in, const int64_t n[3],
                      float *to)
{
    const struct window *w = &image->convolution.window;
    for (int64_t z = 0; z < image->plane[0]; z++) {
        int64_t in_z = z * w->stride[0] - w->pad_begin[0] + n[0];
        for (int64_t y = 0; y < image->plane[1]; y++, to += image->plane[2]) {
            int64_t in_y = y * w->stride[1] - w->pad_begin[1] + n[1];
            if (in_z < 0 || in_z >= w->in[0] || in_y < 0 || in_y >= w->in[1])
                memset(to, 0, (size_t)image->plane[2] * sizeof *to);
            else
                lay_line(image, in + (in_z * w->in[1] + in_y) * w->in[2], n[2], to);
        }
    }
}

static void lay_channel(const struct convolution_image *image, const float *in, float *to)
{
    int64_t n[3];
    for (n[0] = 0; n[0] < image->n_planes[0]; n[0]++)
        for (n[1] = 0; n[1] < image->n_planes[1]; n[1]++)
            for (n[2] = 0; n[2] < image->n_planes[2]; n[2]++, to += window_product(image->plane))
                lay_plane(image, in, n, to);
}

/* ---- The sums ----------------------------------------------------------------------------- */

/* Positions first ... of a plane that are positions of the output. */
static void store_row(const struct convolution_image *image, const float *sums, size_t first,
                      float *out)
{
    const int64_t *n = image->convolution.window.out, *plane = image->plane;
    int64_t at = (int64_t)first, end = at + (int64_t)image->width;
    while (at < end) {
        int64_t x = at % plane[2], y = at / plane[2] % plane[1], z = at / (plane[1] * plane[2]);
        int64_t rest = plane[2] - x < end - at ? plane[2] - x : end - at, count = n[2] - x;
        count = count < rest ? count : rest;
        if (z >= n[0])
            return;
        if (y < n[1] && count > 0)
            memcpy(out + (z * n[1] + y) * n[2] + x, sums + (at - (int64_t)first),
                   (size_t)count * sizeof *out);
        at += rest;
    }
}

static void compute_tile(const struct convolution_image *image, const float *pixels, size_t first,
                         const float *packed, float *out)
{
    float sums[IMAGE_MAX_ROWS * IMAGE_MAX_WIDTH];
    size_t c_out = (size_t)image->convolution.c_out, k = image->k;
    size_t n_out = (size_t)window_product(image->convolution.window.out);
    size_t block_k = divide_up(k, divide_up(k, BLOCK_K));
    for (size_t channel = 0; channel < c_out; channel += image->rows) {
        for (size_t done = 0; done < k; done += block_k) {
            image->tile(&(struct image_tile){
                .k = k - done < block_k ? k - done : block_k,
                .image = pixels + first,
                .offsets = image->offsets + done,
                .weights = packed + (channel * k + done * image->rows),
                .sums = sums,
                .is_added = done > 0,
            });
        }
        for (size_t row = 0; row < image->rows && channel + row < c_out; row++)
            store_row(image, sums + row * image->width, first, out + (channel + row) * n_out);
    }
}

struct job {
    const struct convolution_image *image;
    const float *in, *packed;
    float *out, *memory;
    struct team *team;
};

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct job *job = context;
    const struct convolution_image *image = job->image;
    const struct convolution *c = &image->convolution;
    size_t n_channels = (size_t)(c->c_in * image->n_groups);
    size_t n_in = (size_t)window_product(c->window.in);
    size_t n_out = (size_t)(c->c_out * window_product(c->window.out));
    size_t n_items = (size_t)image->n_groups * image->n_tiles;

    for (size_t i = n_channels * part / n_parts; i < n_channels * (part + 1) / n_parts; i++)
        lay_channel(image, job->in + i * n_in, job->memory + i * image->channel);
    if (n_parts > 1)
        team_meet(job->team, part);
    for (size_t i = n_items * part / n_parts; i < n_items * (part + 1) / n_parts; i++) {
        size_t group = i / image->n_tiles;
        compute_tile(image, job->memory + group * (size_t)c->c_in * image->channel,
                     i % image->n_tiles * image->width,
                     job->packed + group * image->n_blocks * image->rows * image->k,
                     job->out + group * n_out);
    }
}

void convolution_by_image(const struct convolution_image *image, const float *in,
                          const float *packed, float *out, float *memory, struct team *team)
{
    double n_products =
        (double)image->packed_floats * (double)window_product(image->convolution.window.out);
    struct job job = {image, in, packed, out, memory, team};
    team_run(team, run_part, &job, n_products >= SHARE_FROM ? team_n_threads(team) : 1);
}
