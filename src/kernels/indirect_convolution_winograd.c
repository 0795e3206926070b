/* Winograd's minimal filtering in an indirect convolution: plans it, transforms the weights, and
 * runs the transforms and GEMMs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "kernels/indirect_convolution.h"

/* ---- The plan ----------------------------------------------------------------------------- */

/* Floats of both transforms of a chunk, which stay in an L2 cache. If the weights are too large for
 * L2, each chunk reads them again; then a chunk has a quarter of the floats of the weights. */
#define TRANSFORM_FLOATS 65536

#define LINE_UNIT 16 /* positions per unit of a line */

static bool has_tiles(const struct indirect_convolution *conv, int d)
{
    const struct window *w = &conv->window;
    return w->stride[d] == 1 &&
           (w->kernel[d] == 1 || (w->kernel[d] % 2 == 1 && w->kernel[d] <= WINOGRAD_MAX_KERNEL &&
                                  w->dilation[d] == 1 && d > 0));
}

/* Returns the number of parts of three taps into which a kernel is divided along dimension d, 0 or
 * 1. */
static size_t count_parts(const struct indirect_convolution *conv, int d)
{
    int64_t kernel = conv->window.kernel[d + 1];
    return kernel == 1 ? 1 : (size_t)kernel / 2;
}

/* Returns the number of terms of element e that are not always zero. These come first; the
 * remaining terms belong to the zeros in front of all parts except the first. */
static size_t count_terms(const struct indirect_convolution *conv, size_t e)
{
    size_t n_y = count_parts(conv, 0), n_x = count_parts(conv, 1);
    return (size_t)conv->c_in * (e % conv->tile[1] > 0 ? n_y * n_x : e >= conv->tile[1] ? n_y : 1);
}

/* Returns the number of outputs per tile in dimension d, 0 or 1. */
static size_t tile_outputs(const struct indirect_convolution *conv, int d)
{
    return conv->tile[d] == 4 ? 2 : 1;
}

/* Returns the smaller of n and the number of positions per row. */
static size_t row_positions(const struct indirect_convolution *conv, size_t n)
{
    return n < (size_t)conv->out[2] ? n : (size_t)conv->out[2];
}

/* Returns the number of tiles per row, or of a part of a line that has n positions. */
static size_t row_tiles(const struct indirect_convolution *conv, size_t n)
{
    return divide_up(row_positions(conv, n), tile_outputs(conv, 1));
}

/* Enlarges the copy to whole tiles; the input is never read in place. */
static bool plan_copy(struct indirect_convolution *conv)
{
    size_t floats = 1;
    conv->is_in_place = conv->skips_pads = false;
    for (int d = 0; d < 3; d++) {
        int64_t reach = conv->window.kernel[d] - 1;
        reach += d > 0 && conv->tile[d - 1] == 4 ? conv->out[d] % 2 : 0;
        conv->plane[d] = conv->out[d] + reach;
        if (!checked_mul(floats, (size_t)conv->plane[d], &floats))
            return false;
    }
    conv->channel_floats = conv->in_channels_last ? 1 : floats;
    return checked_mul(floats, (size_t)(conv->c_in * conv->n_groups), &floats) &&
           checked_add(floats, IGEMM_MAX_NR, &conv->copy_floats) && conv->copy_floats <= INT32_MAX;
}

/* Rounds up to an odd number of cache lines, so that the elements of a tile lie in different sets
 * of an L1 cache. */
static size_t round_to_odd_lines(size_t n_floats)
{
    return (divide_up(n_floats, LINE_FLOATS) | 1) * LINE_FLOATS;
}

/* Plans the layout of the transformed input and of the sums: channels last if they are last in the
 * input, otherwise planes of tiles. */
static bool plan_elements(struct indirect_convolution *conv)
{
    size_t lanes = conv->microkernels->lanes, c_in = (size_t)conv->c_in, n_sums, n_floats;
    size_t row = row_tiles(conv, (size_t)conv->out[2]), n_more = count_parts(conv, 1) - 1;
    size_t n_tiles = conv->n_tiles + divide_up(conv->n_tiles, row) * n_more +
                     (count_parts(conv, 0) - 1) * (row + n_more);
    conv->tile_floats = conv->in_channels_last ? divide_up(c_in, lanes) * lanes : 1;
    conv->tile_channel = conv->in_channels_last ? 1 : round_to_odd_lines(n_tiles);
    if (!checked_mul(conv->n_tiles, conv->ld_sums, &n_sums) ||
        !checked_mul(conv->in_channels_last ? n_tiles : conv->tile_channel,
                     conv->in_channels_last ? conv->tile_floats : c_in, &n_floats) ||
        n_floats > INT32_MAX || n_sums > INT32_MAX)
        return false;
    conv->in_element = round_to_odd_lines(n_floats);
    conv->sums_element = round_to_odd_lines(n_sums);
    n_floats = conv->tile[0] * conv->tile[1] * (conv->in_element + conv->sums_element);
    return checked_mul(conv->ld_sums, conv->subconvolutions[0].nr + 2, &conv->sums_floats) &&
           checked_add(conv->sums_floats, n_floats, &conv->sums_floats);
}

bool indirect_convolution_plan_winograd(struct indirect_convolution *conv)
{
    struct subconvolution *sub = &conv->subconvolutions[0];
    size_t c_in = (size_t)conv->c_in, n_elements, n_tiles, n_units, n_all, max_floats, n_floats;
    if (!conv->channels_in_lanes || (conv->in_channels_last && conv->pixel_floats == 1) ||
        conv->is_transposed || conv->window.out[0] != 1 || !has_tiles(conv, 0) ||
        !has_tiles(conv, 1) || !has_tiles(conv, 2))
        return false;
    conv->tile[0] = conv->window.kernel[1] > 1 ? 4 : 1;
    conv->tile[1] = conv->window.kernel[2] > 1 ? 4 : 1;
    n_elements = conv->tile[0] * conv->tile[1];
    conv->unit = (size_t)conv->out[2] * tile_outputs(conv, 0);
    if (conv->tile[0] == 1 && conv->out[1] == 1)
        conv->unit = row_positions(conv, LINE_UNIT);
    n_tiles = row_tiles(conv, conv->unit);
    n_floats = n_elements * (c_in + conv->ld_sums) * n_tiles;
    conv->winograd_k = c_in * count_parts(conv, 0) * count_parts(conv, 1);
    max_floats = n_elements * conv->winograd_k * conv->ld_sums / 4;
    n_units = (max_floats > TRANSFORM_FLOATS ? max_floats : TRANSFORM_FLOATS) / n_floats;
    n_all = divide_up((size_t)window_product(conv->out), conv->unit);
    if (n_units < count_parts(conv, 0)) /* more than half of the input would be transformed twice */
        n_units = count_parts(conv, 0);
    n_units = n_units < n_all ? n_units : n_all;
    conv->n_tiles = n_units * n_tiles;
    conv->winograd_kc = divide_up(conv->winograd_k, divide_up(conv->winograd_k, IGEMM_MAX_KC));
    conv->winograd_indirection = conv->n_indirections;
    conv->winograd_position = conv->n_positions;
    conv->winograd_weight = conv->packed_floats;
    sub->nr = n_units * conv->unit;
    conv->n_indirections += conv->winograd_k;
    conv->n_positions += conv->n_tiles;
    return n_elements > 1 && plan_copy(conv) && plan_elements(conv) &&
           checked_mul(n_elements * conv->winograd_k, conv->ld_sums, &conv->winograd_floats) &&
           checked_mul(conv->winograd_floats, (size_t)conv->n_groups, &n_floats) &&
           checked_add(conv->packed_floats, n_floats, &conv->packed_floats);
}

double winograd_cost(const struct indirect_convolution *conv)
{
    size_t width = row_tiles(conv, (size_t)conv->out[2]), n_terms = 0, e;
    size_t in_width = width + count_parts(conv, 1) - 1;
    double n_rows = (double)divide_up((size_t)conv->out[1], tile_outputs(conv, 0));
    double n_tiles = n_rows * (double)width, n_chunks = n_tiles / (double)conv->n_tiles;
    double in_rows = n_rows + n_chunks * (double)(count_parts(conv, 0) - 1);
    double n_vectors =
        conv->in_channels_last
            ? (double)in_width * (double)divide_up((size_t)conv->c_in, 16)
            : (double)divide_up(in_width, 16) * (double)conv->c_in * 2.75; /* planes take longer */
    double n_outputs = (double)window_product(conv->out) * (double)conv->ld_sums;
    const struct igemm_costs *costs = &conv->microkernels->costs;
    for (e = 0; e < conv->tile[0] * conv->tile[1]; e++)
        n_terms += count_terms(conv, e);
    return n_tiles * (double)conv->ld_sums *
               ((double)n_terms * multiplication_cost(conv) + (double)e * costs->sum) +
           in_rows * (double)e * n_vectors * costs->input + n_outputs * 15 +
           reading_cost((double)conv->winograd_floats, n_chunks);
}

void winograd_fill(const struct indirect_convolution *conv, struct indirection *indirection,
                   int32_t *positions)
{
    size_t n_y = count_parts(conv, 0), width = row_tiles(conv, (size_t)conv->out[2]);
    size_t row = width + count_parts(conv, 1) - 1, c_in = (size_t)conv->c_in;
    for (size_t i = 0; i < conv->winograd_k; i++) {
        size_t part = i / c_in, tile = part % n_y * row + part / n_y;
        indirection[conv->winograd_indirection + i].offset =
            (int32_t)(i % c_in * conv->tile_channel + tile * conv->tile_floats);
    }
    for (size_t i = 0; i < conv->n_tiles; i++)
        positions[conv->winograd_position + i] =
            (int32_t)((i / width * row + i % width) * conv->tile_floats);
}

/* ---- The weights -------------------------------------------------------------------------- */

/* Computes G g: u[0], u[step] ... from g[0], g[step] ... */
static void transform_3(const double *g, size_t step, double *u)
{
    double even = g[0] + g[2 * step], odd = g[step];
    u[3 * step] = g[2 * step];
    u[0] = g[0];
    u[step] = (even + odd) / 2;
    u[2 * step] = (even - odd) / 2;
}

void winograd_transform_weights(const struct indirect_convolution *conv, const float *taps,
                                size_t part, float *elements)
{
    double u[4][4] = {{0}};
    size_t part_y = part % count_parts(conv, 0), part_x = part / count_parts(conv, 0);
    for (size_t y = part_y > 0; y <= 2 && y < conv->tile[0]; y++)
        for (size_t x = part_x > 0; x <= 2 && x < conv->tile[1]; x++)
            u[y][x] =
                (double)taps[(2 * part_y + y) * (size_t)conv->window.kernel[2] + 2 * part_x + x];
    for (size_t y = 0; y < 4 && conv->tile[1] == 4; y++)
        transform_3(u[y], 1, u[y]);
    for (size_t x = 0; x < 4 && conv->tile[0] == 4; x++)
        transform_3(&u[0][x], 4, &u[0][x]);
    for (size_t i = 0; i < conv->tile[0] * conv->tile[1]; i++)
        elements[i] = (float)u[i / conv->tile[1]][i % conv->tile[1]];
}

/* ---- The GEMMs ---------------------------------------------------------------------------- */

/* Transforms the input of product->n positions, from `first` on. Returns the number of output
 * tiles. */
static size_t transform_input(const struct indirect_convolution *conv,
                              const struct channels_product *product, size_t first, float *to)
{
    size_t width = (size_t)conv->out[2], pixel = conv->pixel_floats;
    size_t n_rows = divide_up(product->n / row_positions(conv, product->n), tile_outputs(conv, 0));
    size_t n_tiles = row_tiles(conv, product->n);
    struct winograd_input input = {
        .from_stride = (size_t)conv->plane[2] * pixel,
        .from_channel = conv->channel_floats,
        .from_pixel = pixel,
        .to = to,
        .to_stride = conv->in_element,
        .to_tile = conv->tile_floats,
        .to_channel = conv->tile_channel,
        .n_channels = (size_t)conv->c_in,
        .n_rows = n_rows + count_parts(conv, 0) - 1,
        .n_tiles = n_tiles + count_parts(conv, 1) - 1,
        .n_y = conv->tile[0],
        .n_x = conv->tile[1],
    };
    input.from = product->a + first / width * input.from_stride + first % width * pixel;
    conv->microkernels->winograd_input(&input);
    return n_rows * n_tiles;
}

/* Transforms the results of the GEMMs to sums. Computes units with a sum that is not finite again,
 * without Winograd. */
static void transform_output(const struct indirect_convolution *conv,
                             const struct channels_product *product, const float *from)
{
    size_t n;
    for (size_t at = 0; at < product->n; at += n) {
        struct channels_product again = *product;
        n = product->n - at < conv->unit ? product->n - at : conv->unit;
        again.positions += at;
        again.sums += at * conv->ld_sums;
        again.n = n;
        bool is_finite = conv->microkernels->winograd_output(&(struct winograd_output){
            .from = from,
            .from_stride = conv->sums_element,
            .ld = conv->ld_sums,
            .n_tiles = row_tiles(conv, n),
            .n_y = conv->tile[0],
            .n_x = conv->tile[1],
            .bias = product->biases,
            .bounds = product->bounds,
            .to = again.sums,
            .n_rows = n / row_positions(conv, n),
            .width = row_positions(conv, n),
        });
        if (!is_finite)
            indirect_convolution_multiply(conv, &again);
        from += row_tiles(conv, n) * conv->ld_sums;
    }
}

void winograd_run(const struct indirect_convolution *conv, const struct channels_product *product,
                  const float *packed, size_t first, float *memory)
{
    size_t n_elements = conv->tile[0] * conv->tile[1];
    size_t n_tiles = transform_input(conv, product, first, memory);
    float *products = memory + n_elements * conv->in_element;
    for (size_t i = 0; i < n_elements; i++)
        indirect_convolution_multiply(
            conv, &(struct channels_product){
                      .k = conv->winograd_k,
                      .end = count_terms(conv, i),
                      .kc = conv->winograd_kc,
                      .mr = product->mr,
                      .n = n_tiles,
                      .a = memory + i * conv->in_element,
                      .indirection = conv->indirection + conv->winograd_indirection,
                      .positions = conv->positions + conv->winograd_position,
                      .packed = packed + i * conv->winograd_k * conv->ld_sums,
                      .sums = products + i * conv->sums_element,
                      .ldc = conv->ld_sums,
                      .prefetches = product->prefetches,
                  });
    transform_output(conv, product, products);
}
