/* Plans indirect convolutions: the layout of the copy, the tiles and the chunks.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "kernels/indirect_convolution.h"

static void plan_ordinary(struct indirect_convolution *conv, const struct window *w)
{
    conv->window = *w;
    for (int d = 0; d < 3; d++) {
        conv->out_stride[d] = 1;
        conv->out[d] = w->out[d];
    }
}

/* Splits the output and the kernel of a transposed convolution into phases f. Input o and kernel
 * element k contribute to output e - pad, where e = o * s + k. With e = q * s + f and k = f + j *
 * s, this output is position q of phase f, and tap j of the phase reads input o = q - j. */
static bool plan_transposed(struct indirect_convolution *conv, const struct window *w)
{
    struct window *window = &conv->window;
    for (int d = 0; d < 3; d++) {
        int64_t s = w->stride[d];
        if ((w->dilation[d] != 1 && w->kernel[d] != 1) || w->pad_begin[d] < 0)
            return false;
        conv->out_stride[d] = s;
        conv->out_crop[d] = w->pad_begin[d];
        conv->out[d] = w->in[d];
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

static bool plan_planes(struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    size_t floats = 1;
    for (int d = 0; d < 3; d++) {
        int64_t reach = (w->kernel[d] - 1) * w->dilation[d];
        int64_t last = reach + (w->out[d] - 1) * w->stride[d];
        conv->plane_stride[d] = conv->channels_in_lanes ? 1 : w->stride[d];
        conv->n_planes[d] = reach + 1 < conv->plane_stride[d] ? reach + 1 : conv->plane_stride[d];
        conv->plane[d] = conv->channels_in_lanes ? last + 1 : w->out[d] + reach / w->stride[d];
        if (!checked_mul(floats, (size_t)conv->n_planes[d], &floats) ||
            !checked_mul(floats, (size_t)conv->plane[d], &floats))
            return false;
    }
    if (conv->channels_in_lanes && !conv->copy_channels_last && floats % SET_FLOATS == 0)
        floats += LINE_FLOATS;
    conv->channel_floats = conv->copy_channels_last ? 1 : floats;
    /* The last tile reads past the last position. */
    return checked_mul(floats, (size_t)(conv->c_in * conv->n_groups), &floats) &&
           checked_add(floats, IGEMM_MAX_NR, &conv->copy_floats) && conv->copy_floats <= INT32_MAX;
}

/* Returns the number of positions per output row if igemm_microkernels.width_3 can compute them,
 * otherwise 0. */
static size_t find_row_length(const struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    bool has_row = !conv->is_transposed && conv->run == 0 &&
                   (size_t)conv->c_out <= conv->microkernels->lanes && w->kernel[2] == 3 &&
                   w->dilation[2] == 1 && w->stride[2] <= IGEMM_MAX_STRIDE;
    return has_row ? (size_t)w->out[2] : 0;
}

/* The maximum number of taps of a line that is read in place. A line is divided where a tap enters
 * or leaves the input. With more taps, tiles would have few positions, and large weights would be
 * read too often. */
#define LINE_TAPS 5

/* Returns whether the image is a line whose taps in pads can be skipped. */
static bool is_line(const struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    int64_t most = INT32_MAX / 4 / (int64_t)conv->pixel_floats, n_taps = w->kernel[2];
    return !conv->is_transposed && w->in[0] == 1 && w->in[1] == 1 && w->out[0] == 1 &&
           w->out[1] == 1 && w->kernel[0] == 1 && w->kernel[1] == 1 && w->pad_begin[0] == 0 &&
           w->pad_begin[1] == 0 && w->pad_begin[2] >= 0 && w->pad_begin[2] <= most &&
           n_taps <= LINE_TAPS && w->dilation[2] <= most / n_taps &&
           w->out[2] <= most / w->stride[2] && find_row_length(conv) == 0 &&
           conv->c_in <= (int64_t)(L2_BYTES / sizeof(float)) / n_taps / conv->c_out;
}

/* Plans to read the input in place. Returns false if a tap reads outside the input and cannot be
 * skipped, or if offsets do not fit into 32 bits. */
static bool plan_in_place(struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    size_t n_floats = (size_t)window_product(w->in);
    conv->is_in_place = true;
    for (int d = 0; d < 3; d++) {
        int64_t last = (w->kernel[d] - 1) * w->dilation[d] + (w->out[d] - 1) * w->stride[d];
        conv->is_in_place &= w->pad_begin[d] <= 0 && last - w->pad_begin[d] < w->in[d];
        conv->n_planes[d] = conv->plane_stride[d] = 1;
        conv->plane[d] = w->in[d];
    }
    conv->channel_floats = conv->in_channels_last ? 1 : n_floats;
    conv->skips_pads = !conv->is_in_place && is_line(conv);
    conv->is_in_place |= conv->skips_pads;
    conv->is_in_place &= checked_mul(n_floats, (size_t)(conv->c_in * conv->n_groups), &n_floats) &&
                         n_floats <= INT32_MAX;
    conv->skips_pads &= conv->is_in_place;
    return conv->is_in_place;
}

#define MASKS_BYTES (1 << 20) /* maximum size of all masks, which fits into an L2 cache */

/* Plans to read the input in place, with masks instead of pads; the positions of a channel form one
 * row. Returns false for kernels or pads of more than about twice the input size, so that offsets
 * stay below about 30 times the size of a channel. */
static bool plan_masks(struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    int64_t n = window_product(w->in);
    bool is_masked = !conv->is_transposed && n <= INT32_MAX / (conv->c_in + 30) &&
                     n / 8 <= MASKS_BYTES / window_product(w->kernel);
    for (int d = 0; d < 3; d++)
        is_masked &= w->stride[d] == 1 && w->in[d] == w->out[d] &&
                     w->dilation[d] <= 2 * w->in[d] / w->kernel[d] + 1 &&
                     w->pad_begin[d] <= 2 * w->in[d] && w->pad_begin[d] >= -w->in[d];
    if (!is_masked)
        return false;
    conv->is_masked = true;
    conv->channel_floats = (size_t)n;
    for (int d = 0; d < 3; d++) {
        conv->min_offset = conv->min_offset * w->in[d] - w->pad_begin[d];
        conv->max_offset =
            conv->max_offset * w->in[d] + (w->kernel[d] - 1) * w->dilation[d] - w->pad_begin[d];
        conv->n_planes[d] = conv->plane_stride[d] = 1;
        conv->plane[d] = conv->out[d] = d < 2 ? 1 : n;
    }
    conv->max_offset += (conv->c_in - 1) * n;
    return true;
}

/* Computes the phases and taps of a subconvolution. In each dimension, these are the phases with
 * all taps of window.kernel or, if is_short, the phases that lack the first tap (the last element
 * of the filter). */
static bool plan_taps(const struct indirect_convolution *conv, const bool is_short[3],
                      struct subconvolution *sub)
{
    int64_t n_taps[3];
    *sub = (struct subconvolution){0};
    for (int d = 0; d < 3; d++) {
        int64_t stride = conv->out_stride[d], n = conv->window.kernel[d];
        int64_t n_long = conv->is_transposed ? conv->kernel[d] - (n - 1) * stride : stride;
        sub->first_phase[d] = is_short[d] ? n_long : 0;
        sub->n_phases[d] = is_short[d] ? stride - n_long : n_long;
        sub->first_tap[d] = is_short[d];
        if (sub->n_phases[d] == 0)
            return false;
    }
    subconvolution_taps(conv, sub, n_taps);
    sub->k = (size_t)(conv->c_in * window_product(n_taps));
    return true;
}

static bool plan_tiles(struct indirect_convolution *conv, struct subconvolution *sub)
{
    const struct igemm_microkernels *microkernels = conv->microkernels;
    const int64_t *size = indirect_convolution_positions(conv);
    size_t n_rows = (size_t)conv->c_out, max_mr = 1, sums_floats, n_weights;
    for (int d = 0; d < 3; d++)
        if (!checked_mul(n_rows, (size_t)sub->n_phases[d], &n_rows) || n_rows > UINT32_MAX)
            return false;
    while (max_mr < IGEMM_MAX_MR && microkernels->run[IGEMM_UNMASKED][max_mr + 1])
        max_mr++;
    sub->n_row_tiles = divide_up(n_rows, max_mr);
    sub->mr = divide_up(n_rows, sub->n_row_tiles);
    sub->nr = microkernels->nr[sub->mr];
    int64_t last = ((size[0] - 1) * conv->plane[1] + size[1] - 1) * conv->plane[2] + size[2] - 1;
    sub->n_column_tiles = divide_up((size_t)last + 1, sub->nr);
    sub->kc = sub->k > 0 ? divide_up(sub->k, divide_up(sub->k, IGEMM_MAX_KC)) : 0;
    sub->first_indirection = conv->n_indirections;
    sub->first_weight = conv->packed_floats;
    n_rows = sub->n_row_tiles * sub->mr;
    if (!checked_mul(n_rows, sub->nr + 1, &sums_floats) ||
        !checked_mul(sub->k, n_rows, &n_weights) ||
        !checked_mul(n_weights, (size_t)conv->n_groups, &n_weights) ||
        !checked_add(conv->packed_floats, n_weights, &conv->packed_floats))
        return false;
    conv->sums_floats = conv->sums_floats > sums_floats ? conv->sums_floats : sums_floats;
    conv->n_indirections += sub->k;
    return true;
}

/* Limits of a chunk in floats of sums and in positions: the sums stay in an L2 cache, and the
 * weights are not read too often. A long chunk, whose sums are written directly to the output, has
 * fewer floats but may have more positions. */
#define CHUNK_FLOATS 98304
#define LONG_CHUNK_FLOATS 32768
#define MIN_CHUNK 24
#define MAX_CHUNK 96
#define MAX_LONG_CHUNK 1024

static size_t count_positions(const struct indirect_convolution *conv,
                              const struct subconvolution *sub)
{
    size_t n = 0;
    for (int64_t i = 0; i < window_product(sub->n_phases); i++)
        n += (size_t)window_product(subconvolution_phase(conv, sub, i).n);
    return n;
}

static bool plan_channels(struct indirect_convolution *conv, struct subconvolution *sub)
{
    const struct igemm_microkernels *microkernels = conv->microkernels;
    size_t lanes = microkernels->lanes, most = IGEMM_MAX_VECTORS, n_weights;
    while (!microkernels->channels[most][1])
        most--;
    conv->n_vectors = divide_up((size_t)conv->c_out, lanes);
    conv->row_length = find_row_length(conv);
    size_t run = conv->run > 0 ? conv->run : conv->row_length > 0 ? 3 : 1, n_runs = sub->k / run;
    conv->n_panels = divide_up(conv->n_vectors, most);
    conv->ld_sums = conv->n_vectors * lanes;
    most = divide_up(conv->n_vectors, conv->n_panels);
    while (sub->mr < IGEMM_MAX_MR && microkernels->channels[most][sub->mr + 1])
        sub->mr++;
    size_t max_terms = IGEMM_MAX_PANEL_KC / most;
    size_t max_runs = run < max_terms ? max_terms / run : 1;
    sub->kc = n_runs > 0 ? divide_up(n_runs, divide_up(n_runs, max_runs)) * run : 0;
    bool is_long = conv->out_channels_last && sub->kc >= sub->k &&
                   (conv->ld_sums == (size_t)conv->c_out ||
                    (conv->run == 0 && conv->ld_sums <= 2 * (size_t)conv->c_out));
    conv->stores_pixels = is_long;
    size_t max_positions = is_long ? MAX_LONG_CHUNK : MAX_CHUNK;
    sub->nr = (is_long ? LONG_CHUNK_FLOATS : CHUNK_FLOATS) / conv->ld_sums;
    sub->nr = sub->nr < MIN_CHUNK ? MIN_CHUNK : sub->nr > max_positions ? max_positions : sub->nr;
    sub->first_indirection = conv->n_indirections;
    sub->first_weight = conv->packed_floats;
    sub->first_position = conv->n_positions;
    sub->n_positions = count_positions(conv, sub);
    conv->n_indirections += sub->k;
    conv->n_positions += sub->n_positions;
    conv->sums_floats = (sub->nr + 1) * conv->ld_sums;
    if (conv->is_transposed)
        conv->sums_floats += sub->nr * conv->ld_sums;
    return checked_mul(sub->k, conv->ld_sums, &n_weights) &&
           checked_mul(n_weights, (size_t)window_product(sub->n_phases), &n_weights) &&
           checked_mul(n_weights, (size_t)conv->n_groups, &n_weights) &&
           checked_add(conv->packed_floats, n_weights, &conv->packed_floats);
}

static bool plan_subconvolutions(struct indirect_convolution *conv)
{
    for (unsigned i = 0; i < MAX_SUBCONVOLUTIONS; i++) {
        struct subconvolution *sub = &conv->subconvolutions[conv->n_subconvolutions];
        if (!plan_taps(conv, (bool[3]){i & 4, i & 2, i & 1}, sub))
            continue;
        if (!(conv->channels_in_lanes ? plan_channels : plan_tiles)(conv, sub))
            return false;
        conv->n_subconvolutions++;
    }
    if (conv->is_masked)
        conv->mask_bytes =
            conv->subconvolutions[0].n_column_tiles * conv->subconvolutions[0].nr / 8;
    return true;
}

/* Returns whether the product of three sizes, none of them 0, fits into 32 bits. */
static bool product_fits_i32(const int64_t n[3])
{
    return n[0] <= INT32_MAX && n[1] <= INT32_MAX / n[0] && n[2] <= INT32_MAX / n[0] / n[1];
}

/* Plans the copy of the input, the tiles and the chunks. */
static bool plan_layout(struct indirect_convolution *conv, const struct convolution *c)
{
    return c->c_in > 0 && !window_is_empty(conv->window.kernel) && c->c_out > 0 &&
           conv->n_groups > 0 && !window_is_empty(conv->out) && c->c_out <= INT32_MAX &&
           product_fits_i32(conv->out) &&
           ((!conv->has_pairs && (conv->channels_in_lanes ? plan_in_place : plan_masks)(conv)) ||
            plan_planes(conv)) &&
           plan_subconvolutions(conv);
}

bool indirect_convolution_plan(struct indirect_convolution *conv,
                               const struct igemm_microkernels *microkernels,
                               const struct convolution *c, int64_t n_groups, bool is_transposed,
                               bool channels_in_lanes)
{
    *conv = (struct indirect_convolution){.n_groups = n_groups,
                                          .c_in = c->c_in,
                                          .c_out = c->c_out,
                                          .is_transposed = is_transposed,
                                          .channels_in_lanes = channels_in_lanes,
                                          .in_channels_last = c->in_pixel_stride > 0,
                                          .copy_channels_last = c->in_pixel_stride > 0,
                                          .out_channels_last = c->out_pixel_stride > 0,
                                          .pixel_floats =
                                              c->in_pixel_stride ? (size_t)c->in_pixel_stride : 1,
                                          .n_channels = (size_t)(c->c_in * n_groups),
                                          .microkernels = microkernels};
    memcpy(conv->kernel, c->window.kernel, sizeof conv->kernel);
    if (!is_transposed)
        plan_ordinary(conv, &c->window);
    else if (!plan_transposed(conv, &c->window))
        return false;
    bool has_pixels = c->in_pixel_stride > 0 || c->out_pixel_stride > 0;
    if (has_pixels && (!channels_in_lanes || n_groups > 1))
        return false;
    if (has_pixels && microkernels->half_width &&
        c->c_out <= (int64_t)microkernels->half_width->lanes)
        conv->microkernels = microkernels->half_width;
    return plan_layout(conv, c);
}

/* Returns the length of the runs of adjacent pairs in a copy with the channels last: the pairs of
 * one tap or of a row of taps, or TILE_PAIRS if the pairs of a tap fill whole tiles. */
static size_t find_run(const struct window *w, size_t n_pairs)
{
    if (n_pairs % TILE_PAIRS == 0)
        return TILE_PAIRS;
    size_t n_row = w->dilation[2] == 1 ? (size_t)w->kernel[2] : 1;
    return n_row <= IGEMM_MAX_KC / n_pairs ? n_row * n_pairs : n_pairs;
}

bool indirect_convolution_plan_pairs(struct indirect_convolution *conv,
                                     const struct igemm_microkernels *microkernels,
                                     const struct convolution *c)
{
    int64_t n_pairs = c->c_in / 2 + c->c_in % 2;
    *conv = (struct indirect_convolution){.n_groups = 1,
                                          .c_in = n_pairs,
                                          .c_out = c->c_out,
                                          .channels_in_lanes = true,
                                          .in_channels_last = c->in_pixel_stride > 0,
                                          .out_channels_last = c->out_pixel_stride > 0,
                                          .has_pairs = true,
                                          .n_channels = (size_t)c->c_in,
                                          .microkernels = microkernels};
    conv->run =
        tiles_request(microkernels->pairs.tiles.end) ? find_run(&c->window, (size_t)n_pairs) : 0;
    conv->copy_channels_last = conv->in_channels_last || conv->run > 0;
    conv->pixel_floats = conv->copy_channels_last ? (size_t)n_pairs : 1;
    memcpy(conv->kernel, c->window.kernel, sizeof conv->kernel);
    plan_ordinary(conv, &c->window);
    return microkernels->pairs.round && plan_layout(conv, c);
}

bool indirect_convolution_scratch(const struct indirect_convolution *conv, unsigned n_threads,
                                  size_t *n_bytes)
{
    return checked_mul(share_floats(conv), n_threads, n_bytes) &&
           checked_add(*n_bytes, conv->copy_floats, n_bytes) &&
           checked_mul(*n_bytes, sizeof(float), n_bytes);
}
