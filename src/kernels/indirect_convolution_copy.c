/* Copies the input of an indirect convolution and adds its pads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "kernels/indirect_convolution.h"

static inline void copy_strided(const float *restrict from, int64_t stride, float *restrict to,
                                int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i * stride];
}

#define LONG_ROW 64 /* floats; rows of at least this length are copied by memcpy */

/* Fills a line of `size` floats: copies every stride-th element of `row` to positions [first, end),
 * and sets the remaining positions to zero. */
static void copy_line(const float *row, int64_t stride, int64_t first, int64_t end, int64_t size,
                      float *to)
{
    for (int64_t x = 0; x < first; x++)
        to[x] = 0;
    if (stride == 1)
        copy_row(row, to + first, end - first);
    else if (stride == 2) /* vectorized */
        copy_strided(row, 2, to + first, end - first);
    else
        copy_strided(row, stride, to + first, end - first);
    for (int64_t x = end; x < size; x++)
        to[x] = 0;
}

/* Copies the plane with number n[d] in dimension d of a channel. */
static void copy_plane(const struct indirect_convolution *conv, const float *in, const int64_t n[3],
                       float *to)
{
    const struct window *w = &conv->window;
    const int64_t *strides = conv->plane_stride;
    int64_t first, end, stride = strides[2], at = n[2] - w->pad_begin[2];
    window_range(at, stride, w->in[2], conv->plane[2], &first, &end);
    at += first * stride;
    for (int64_t z = 0; z < conv->plane[0]; z++) {
        int64_t in_z = z * strides[0] - w->pad_begin[0] + n[0];
        for (int64_t y = 0; y < conv->plane[1]; y++, to += conv->plane[2]) {
            int64_t in_y = y * strides[1] - w->pad_begin[1] + n[1];
            if (in_z < 0 || in_z >= w->in[0] || in_y < 0 || in_y >= w->in[1] || first >= end)
                memset(to, 0, (size_t)conv->plane[2] * sizeof *to);
            else
                copy_line(in + (in_z * w->in[1] + in_y) * w->in[2] + at, stride, first, end,
                          conv->plane[2], to);
        }
    }
}

/* Copies n floats in blocks of constant size, without calls. */
static inline void copy_blocks(const float *from, float *to, int64_t n)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        memcpy(to + i, from + i, 4 * sizeof *to);
    for (; i < n; i++)
        to[i] = from[i];
}

/* Copies n elements of a row. With has_pairs, rounds the channel at `from` and the channel
 * second_offset elements after it (0: zeros) to bf16 pairs. */
static inline void copy_elements(const struct indirect_convolution *conv, const float *from,
                                 size_t second_offset, float *to, int64_t n)
{
    if (conv->has_pairs)
        conv->microkernels->pairs.round_rows(from, second_offset > 0 ? from + second_offset : NULL,
                                             to, (size_t)n);
    else if (n < LONG_ROW)
        copy_blocks(from, to, n);
    else
        memcpy(to, from, (size_t)n * sizeof *to);
}

/* Copies a channel, or a pair of channels, that is one plane, and adds its pads. */
static void copy_padded(const struct indirect_convolution *conv, const float *in,
                        size_t second_offset, float *to)
{
    const int64_t *size = conv->window.in, *pad = conv->window.pad_begin;
    int64_t first[3], end[3];
    memset(to, 0, conv->channel_floats * sizeof *to);
    for (int d = 0; d < 3; d++)
        window_range(-pad[d], 1, size[d], conv->plane[d], &first[d], &end[d]);
    for (int64_t z = first[0]; z < end[0]; z++)
        for (int64_t y = first[1]; y < end[1]; y++)
            copy_elements(conv,
                          in + ((z - pad[0]) * size[1] + y - pad[1]) * size[2] + first[2] - pad[2],
                          second_offset, to + (z * conv->plane[1] + y) * conv->plane[2] + first[2],
                          end[2] - first[2]);
}

/* Copies channel i, or pair i. */
static void copy_channel(const struct indirect_convolution *conv, const float *in, size_t i,
                         float *to)
{
    size_t n_in = (size_t)window_product(conv->window.in), n_before = conv->has_pairs ? 2 * i : i;
    int64_t n[3];
    in += n_before * n_in;
    to += i * conv->channel_floats;
    if (window_product(conv->plane_stride) == 1) {
        copy_padded(conv, in, n_before + 1 < conv->n_channels ? n_in : 0, to);
        return;
    }
    for (n[0] = 0; n[0] < conv->n_planes[0]; n[0]++)
        for (n[1] = 0; n[1] < conv->n_planes[1]; n[1]++)
            for (n[2] = 0; n[2] < conv->n_planes[2]; n[2]++, to += window_product(conv->plane))
                copy_plane(conv, in, n, to);
}

/* Copies n pixels. With has_pairs and an odd number of channels, rounds the pixels one by one. */
static void copy_pixel_row(const struct indirect_convolution *conv, const float *in, size_t n,
                           float *to)
{
    const struct igemm_pairs *pairs = &conv->microkernels->pairs;
    size_t n_channels = conv->n_channels, n_at_once = n_channels % 2 == 0 ? n : 1;
    if (!conv->has_pairs)
        memcpy(to, in, n * n_channels * sizeof *to);
    else if (!conv->in_channels_last)
        pairs->round_planes(in, (size_t)window_product(conv->window.in), n_channels, to,
                            conv->pixel_floats, n);
    else
        for (size_t i = 0; i < n; i += n_at_once)
            pairs->round(in + i * n_channels, to + i * conv->pixel_floats, n_at_once * n_channels);
}

/* Copies rows begin ... end - 1 of the padded image to a copy with the channels last. */
static void copy_pixels(const struct indirect_convolution *conv, const float *in, int64_t begin,
                        int64_t end, float *to)
{
    const int64_t *size = conv->window.in, *pad = conv->window.pad_begin;
    int64_t pixel = (int64_t)conv->pixel_floats, width = conv->plane[2], first, last;
    window_range(-pad[2], 1, size[2], width, &first, &last);
    for (int64_t row = begin; row < end; row++, to += width * pixel) {
        int64_t z = row / conv->plane[1] - pad[0], y = row % conv->plane[1] - pad[1];
        bool is_inside = z >= 0 && z < size[0] && y >= 0 && y < size[1] && first < last;
        memset(to, 0, (size_t)((is_inside ? first : width) * pixel) * sizeof *to);
        if (!is_inside)
            continue;
        int64_t at = (z * size[1] + y) * size[2] + first - pad[2];
        at *= conv->in_channels_last ? (int64_t)conv->n_channels : 1;
        copy_pixel_row(conv, in + at, (size_t)(last - first), to + first * pixel);
        memset(to + last * pixel, 0, (size_t)((width - last) * pixel) * sizeof *to);
    }
}

void indirect_convolution_copy(const struct indirect_convolution *conv, const float *in,
                               size_t share, size_t n_shares, float *to)
{
    size_t n_channels = (size_t)(conv->c_in * conv->n_groups);
    size_t n_rows = (size_t)(conv->plane[0] * conv->plane[1]), begin = n_rows * share / n_shares;
    if (conv->copy_channels_last)
        copy_pixels(conv, in, (int64_t)begin, (int64_t)(n_rows * (share + 1) / n_shares),
                    to + begin * (size_t)conv->plane[2] * conv->pixel_floats);
    for (size_t i = n_channels * share / n_shares;
         i < n_channels * (share + 1) / n_shares && !conv->copy_channels_last; i++)
        copy_channel(conv, in, i, to);
}

void indirect_convolution_copy_rows(const struct indirect_convolution *conv, const float *in,
                                    int64_t begin, int64_t end, float *to)
{
    const int64_t *size = conv->window.in, *pad = conv->window.pad_begin, width = conv->plane[2];
    int64_t first, last;
    if (conv->copy_channels_last) {
        copy_pixels(conv, in, begin, end, to);
        return;
    }
    window_range(-pad[2], 1, size[2], width, &first, &last);
    for (size_t i = 0; i < conv->n_channels; i++, in += window_product(size))
        for (int64_t y = begin; y < end; y++) {
            bool is_inside = y >= pad[1] && y - pad[1] < size[1];
            copy_line(in + (y - pad[1]) * size[2] + first - pad[2], 1, is_inside ? first : width,
                      is_inside ? last : width, width,
                      to + i * conv->channel_floats + (size_t)((y - begin) * width));
        }
}

/* Maximum floats per chunk: the copy stays in an L1 cache, the sums in an L2 cache. */
#define ROWS_FLOATS 6144
#define SUMS_FLOATS 65536
#define MIN_POSITIONS 64 /* per chunk; with fewer, weights are loaded too often */

bool indirect_convolution_plan_rows(struct indirect_convolution *conv)
{
    const struct window *w = &conv->window;
    size_t row = (size_t)conv->out[2], line = (size_t)conv->plane[2], max_rows, min_rows, n;
    size_t stride = (size_t)w->stride[1], reach = (size_t)((w->kernel[1] - 1) * w->dilation[1]);
    if (!conv->channels_in_lanes || conv->is_in_place || conv->has_pairs || conv->is_transposed ||
        conv->n_groups > 1 || conv->tile[0] > 0 || conv->plane[0] > 1 || w->in[0] > 1 ||
        w->pad_begin[0] != 0)
        return false;
    max_rows = SUMS_FLOATS / conv->ld_sums / row;
    min_rows = reach >= stride ? 4 * (reach + 1 - stride) / stride
                               : 1; /* at most 1/4 of the rows are copied twice */
    n = ROWS_FLOATS / line / (size_t)conv->c_in;
    n = n > reach ? (n - reach - 1) / stride + 1 : 1;
    n = n < min_rows ? min_rows : n;
    n = n > max_rows ? max_rows : n;
    n = n > (size_t)conv->out[1] / 2 ? (size_t)conv->out[1] / 2 : n;
    if (n * row < MIN_POSITIONS)
        return false;
    conv->copy_rows = (n - 1) * stride + reach + 1;
    conv->subconvolutions[0].nr = n * row;
    conv->sums_floats = (n * row + 1) * conv->ld_sums;
    n = conv->copy_rows * line;
    n += n % SET_FLOATS == 0 && !conv->copy_channels_last ? LINE_FLOATS : 0;
    conv->channel_floats = conv->copy_channels_last ? 1 : n;
    conv->copy_floats = divide_up(n * (size_t)conv->c_in + IGEMM_MAX_NR, LINE_FLOATS) * LINE_FLOATS;
    return true;
}
