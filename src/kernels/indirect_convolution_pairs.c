/* The copy of the input of an indirect convolution in bf16: see indirect_convolution.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indirect_convolution.h"

/* A row of the copy: positions begin ... end - 1 are those of the input from `at` on, the others
 * are pads. */
struct row {
    int64_t at, begin, end;
};

static struct row find_row(const struct indirect_convolution *conv, int64_t number)
{
    const int64_t *size = conv->window.in, *pad = conv->window.pad_begin;
    int64_t z = number / conv->plane[1] - pad[0], y = number % conv->plane[1] - pad[1];
    struct row row = {.begin = pad[2] > 0 ? pad[2] : 0, .end = size[2] + pad[2]};
    if (row.end > conv->plane[2])
        row.end = conv->plane[2];
    if (z < 0 || z >= size[0] || y < 0 || y >= size[1] || row.end < row.begin)
        return (struct row){0};
    row.at = (z * size[1] + y) * size[2] + row.begin - pad[2];
    return row;
}

static void copy_pixels(const struct indirect_convolution *conv, const float *in, int64_t number,
                        float *to)
{
    const struct igemm_pairs *pairs = &conv->microkernels->pairs;
    size_t n_pairs = conv->pixel_floats, n_channels = conv->n_channels;
    struct row row = find_row(conv, number);
    size_t begin = (size_t)row.begin, end = (size_t)row.end, width = (size_t)conv->plane[2];
    memset(to, 0, begin * n_pairs * sizeof *to);
    memset(to + end * n_pairs, 0, (width - end) * n_pairs * sizeof *to);
    in += row.at * (int64_t)n_channels;
    to += begin * n_pairs;
    if (n_channels % 2 == 0)
        pairs->round(in, to, (end - begin) * n_channels);
    for (size_t i = begin; i < end && n_channels % 2 != 0; i++, in += n_channels, to += n_pairs)
        pairs->round(in, to, n_channels);
}

/* Copies two channels, or one and zeros. */
static void copy_plane(const struct indirect_convolution *conv, const float *in, bool is_half,
                       float *to)
{
    const struct igemm_pairs *pairs = &conv->microkernels->pairs;
    int64_t n_in = window_product(conv->window.in), width = conv->plane[2];
    memset(to, 0, conv->channel_floats * sizeof *to);
    for (int64_t i = 0; i < conv->plane[0] * conv->plane[1]; i++, to += width) {
        struct row row = find_row(conv, i);
        const float *from = in + row.at;
        if (row.begin < row.end)
            pairs->round_rows(from, is_half ? NULL : from + n_in, to + row.begin,
                              (size_t)(row.end - row.begin));
    }
}

void indirect_convolution_copy_pairs(const struct indirect_convolution *conv, const float *in,
                                     size_t share, size_t n_shares, float *to)
{
    size_t n_rows = (size_t)(conv->plane[0] * conv->plane[1]), n_pairs = (size_t)conv->c_in;
    size_t n = conv->in_is_last ? n_rows : n_pairs, row_floats = (size_t)conv->plane[2] * n_pairs;
    size_t n_in = (size_t)window_product(conv->window.in);
    for (size_t i = n * share / n_shares; i < n * (share + 1) / n_shares; i++) {
        if (conv->in_is_last)
            copy_pixels(conv, in, (int64_t)i, to + i * row_floats);
        else
            copy_plane(conv, in + 2 * i * n_in, 2 * i + 1 == conv->n_channels,
                       to + i * conv->channel_floats);
    }
}
