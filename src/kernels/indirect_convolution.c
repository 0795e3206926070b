/* Indirect convolution with positions in the lanes: copies the input with its pads, computes tiles
 * of the product, and stores them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indirect_convolution.h"

/* ---- The padded copy ---------------------------------------------------------------------- */

static inline void copy_strided(const float *restrict from, int64_t stride, float *restrict to,
                                int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i * stride];
}

#define LONG_ROW 64  /* floats */
#define SHORT_ROW 16 /* floats: for fewer, a call is slower than a loop */

static inline void copy_row(const float *from, float *to, int64_t n)
{
    if (n >= SHORT_ROW)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        copy_strided(from, 1, to, n);
}

/* Fills a line of `size`: positions [first, end) from every stride-th element of `row`, zeros
 * elsewhere. */
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

/* Copies plane (n[0], n[1], n[2]) of a channel. */
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

/* Copies n elements of a row. If there are pairs, `from` is the first channel of a pair, and from +
 * second_offset the second one; 0: there is none. */
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

/* Copies a channel, or a pair of channels, of one plane and adds its pads. */
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

/* Copies n pixels. Pixels of pairs are rounded one by one if they have an odd number of
 * channels. */
static void copy_pixel_row(const struct indirect_convolution *conv, const float *in, size_t n,
                           float *to)
{
    const struct igemm_pairs *pairs = &conv->microkernels->pairs;
    size_t n_channels = conv->n_channels, n_at_once = n_channels % 2 == 0 ? n : 1;
    if (!conv->has_pairs)
        memcpy(to, in, n * n_channels * sizeof *to);
    else if (!conv->in_is_last)
        pairs->round_planes(in, (size_t)window_product(conv->window.in), n_channels, to,
                            conv->pixel_floats, n);
    else
        for (size_t i = 0; i < n; i += n_at_once)
            pairs->round(in + i * n_channels, to + i * conv->pixel_floats, n_at_once * n_channels);
}

/* Copies rows begin ... end - 1 of the padded image, channels last. */
static void copy_pixels(const struct indirect_convolution *conv, const float *in, int64_t begin,
                        int64_t end, float *to)
{
    const int64_t *size = conv->window.in, *pad = conv->window.pad_begin;
    int64_t pixel = (int64_t)conv->pixel_floats, width = conv->plane[2], first, last;
    window_range(-pad[2], 1, size[2], width, &first, &last);
    to += begin * width * pixel;
    for (int64_t row = begin; row < end; row++, to += width * pixel) {
        int64_t z = row / conv->plane[1] - pad[0], y = row % conv->plane[1] - pad[1];
        bool is_inside = z >= 0 && z < size[0] && y >= 0 && y < size[1] && first < last;
        memset(to, 0, (size_t)((is_inside ? first : width) * pixel) * sizeof *to);
        if (!is_inside)
            continue;
        int64_t at = (z * size[1] + y) * size[2] + first - pad[2];
        at *= conv->in_is_last ? (int64_t)conv->n_channels : 1;
        copy_pixel_row(conv, in + at, (size_t)(last - first), to + first * pixel);
        memset(to + last * pixel, 0, (size_t)((width - last) * pixel) * sizeof *to);
    }
}

/* ---- The tiles ---------------------------------------------------------------------------- */

/* The destination of n positions along a row of a plane, in one dimension. Positions in [first,
 * end) are stored at start + i * out_stride. */
struct destination {
    int64_t start, first, end;
};

static struct destination find_destination(const struct indirect_convolution *conv, int d,
                                           int64_t p, int64_t n, int64_t phase)
{
    int64_t stride = conv->out_stride[d];
    struct destination destination = {.start = p * stride + phase - conv->out_crop[d]};
    int64_t n_left = conv->out[d] - destination.start;
    destination.first = destination.start < 0 ? -destination.start : 0;
    destination.end = n_left < 0 ? 0 : n_left;
    if (stride != 1) { /* for short rows divisions are expensive */
        destination.first = (destination.first + stride - 1) / stride;
        destination.end = (destination.end + stride - 1) / stride;
    }
    destination.end = destination.end < n ? destination.end : n;
    return destination;
}

/* Stores n positions from p on, along a row of a plane, of all channels of one phase. */
static void store_rows(const struct indirect_convolution *conv, const struct subconvolution *sub,
                       const float *sums, const int64_t p[3], int64_t n, const int64_t phase[3],
                       float *out)
{
    const int64_t *size = conv->out;
    struct destination z = find_destination(conv, 0, p[0], 1, phase[0]);
    struct destination y = find_destination(conv, 1, p[1], 1, phase[1]);
    struct destination x = find_destination(conv, 2, p[2], n, phase[2]);
    int64_t stride = conv->out_stride[2], n_out = window_product(size);
    size_t step = (size_t)window_product(sub->n_phases) * sub->nr;
    if (z.first >= z.end || y.first >= y.end || x.first >= x.end)
        return;
    out += (z.start * size[1] + y.start) * size[2];
    for (int64_t channel = 0; channel < conv->c_out; channel++, out += n_out, sums += step) {
        if (stride == 1)
            copy_row(sums + x.first, out + x.start + x.first, x.end - x.first);
        for (int64_t i = x.first; i < x.end && stride != 1; i++)
            out[x.start + i * stride] = sums[i];
    }
}

/* Stores a column of tiles: nr positions of all channels and phases of a subconvolution. */
static void store_column(const struct indirect_convolution *conv, const struct subconvolution *sub,
                         const float *sums, size_t first, float *out)
{
    const int64_t *plane = conv->plane, *size = indirect_convolution_positions(conv);
    const int64_t *begin = sub->first_phase, *n_phases = sub->n_phases;
    int64_t line = (int64_t)first / plane[2], n, left = (int64_t)sub->nr;
    int64_t p[3] = {line / plane[1], line % plane[1], (int64_t)first % plane[2]};
    for (; left > 0 && p[0] < size[0]; left -= n, sums += n) {
        const float *row = sums;
        int64_t x = p[2], y = p[1], f[3];
        n = plane[2] - x < left ? plane[2] - x : left;
        int64_t n_inside = size[2] - x < n ? size[2] - x : n, q[3] = {p[0], y, x};
        p[2] = 0;
        p[1] = y + 1 < plane[1] ? y + 1 : 0;
        p[0] += y + 1 == plane[1];
        if (y >= size[1] || n_inside <= 0)
            continue;
        for (f[0] = begin[0]; f[0] < begin[0] + n_phases[0]; f[0]++)
            for (f[1] = begin[1]; f[1] < begin[1] + n_phases[1]; f[1]++)
                for (f[2] = begin[2]; f[2] < begin[2] + n_phases[2]; f[2]++, row += sub->nr)
                    store_rows(conv, sub, row, q, n_inside, f, out);
    }
}

/* Writes the bias of every row of A after the sums. */
static float *broadcast_bias(const struct subconvolution *sub, size_t c_out, const float *bias,
                             float *sums)
{
    size_t n_phases = (size_t)window_product(sub->n_phases), n_rows = sub->n_row_tiles * sub->mr;
    float *biases = sums + n_rows * sub->nr;
    for (size_t row = 0; row < n_rows; row++)
        biases[row] = row < n_phases * c_out ? bias[row / n_phases] : 0;
    return biases;
}

/* Chooses the micro-kernel for the positions from `first` on. n_before floats before the group and
 * n_after from its start on are readable. */
static enum igemm_masking choose_masking(const struct indirect_convolution *conv,
                                         const struct subconvolution *sub, int64_t first,
                                         int64_t n_before, int64_t n_after)
{
    if (!conv->is_masked)
        return IGEMM_UNMASKED;
    bool is_inside = n_before + first + conv->min_offset >= 0 &&
                     first + conv->max_offset + (int64_t)sub->nr <= n_after;
    return is_inside ? IGEMM_MASKED : IGEMM_MASKED_LOADS;
}

/* Computes all rows of A for one column of tiles; if there are no terms, this is the bias. */
static void compute_column(const struct indirect_convolution *conv,
                           const struct subconvolution *sub, enum igemm_masking masking,
                           const float *b, size_t first, const float *packed, const float *biases,
                           float *sums)
{
    size_t done = 0, n;
    do {
        n = sub->k - done < sub->kc ? sub->k - done : sub->kc;
        for (size_t block = 0; block < sub->n_row_tiles; block++, packed += n * sub->mr) {
            conv->microkernels->run[masking][sub->mr](&(struct igemm_args){
                .k = n,
                .b = b + first,
                .masks = conv->masks + (conv->is_masked ? first / 8 : 0),
                .indirection = conv->indirection + sub->first_indirection + done,
                .a = packed,
                .c = sums + block * sub->mr * sub->nr,
                .bias = biases && done == 0 ? biases + block * sub->mr : NULL,
                .is_added = done > 0,
            });
        }
        done += n;
    } while (done < sub->k);
}

/* The epilogue runs on the sums of a column if there are at least this many. */
#define EARLY_MIN_SUMS 1024

struct run {
    const struct indirect_convolution *conv;
    const struct indirect_convolution_job *job;
    bool is_early; /* the epilogue runs on the sums of each column; otherwise on the whole output */
};

static size_t count_sums(const struct indirect_convolution *conv, const struct subconvolution *sub)
{
    return (size_t)(conv->c_out * window_product(sub->n_phases)) * sub->nr;
}

/* Computes columns of tiles begin … end - 1, counted over all groups. */
static void compute_columns(const struct run *run, const struct subconvolution *sub, size_t begin,
                            size_t end, float *sums)
{
    const struct indirect_convolution *conv = run->conv;
    const struct indirect_convolution_job *job = run->job;
    size_t n_group = (size_t)conv->c_in * conv->channel_floats, c_out = (size_t)conv->c_out;
    size_t n_out = c_out * (size_t)window_product(conv->out);
    size_t n_weights = sub->n_row_tiles * sub->mr * sub->k;
    const float *bias = job->epilogue ? job->epilogue->bias : NULL, *biases = NULL;
    const float *b = conv->is_masked ? job->in : job->scratch;
    const float *packed = job->packed + sub->first_weight;
    for (size_t i = begin; i < end; i++) {
        size_t group = i / sub->n_column_tiles, first = i % sub->n_column_tiles * sub->nr;
        if (bias && (i == begin || first == 0))
            biases = broadcast_bias(sub, c_out, bias + group * c_out, sums);
        int64_t n_before = (int64_t)(job->n_before + group * n_group);
        int64_t n_after = (int64_t)(n_group * ((size_t)conv->n_groups - group) + job->n_after);
        compute_column(conv, sub, choose_masking(conv, sub, (int64_t)first, n_before, n_after),
                       b + group * n_group, first, packed + group * n_weights, biases, sums);
        if (run->is_early)
            epilogue_run_on(job->epilogue, sums, count_sums(conv, sub));
        store_column(conv, sub, sums, first, job->out + group * n_out);
    }
}

static void copy_input(void *context, size_t share, size_t n_shares)
{
    const struct run *run = context;
    const struct indirect_convolution *conv = run->conv;
    const struct indirect_convolution_job *job = run->job;
    size_t n_channels = (size_t)(conv->c_in * conv->n_groups);
    int64_t n_rows = conv->plane[0] * conv->plane[1];
    if (conv->copy_is_last)
        copy_pixels(conv, job->in, n_rows * (int64_t)share / (int64_t)n_shares,
                    n_rows * (int64_t)(share + 1) / (int64_t)n_shares, job->scratch);
    for (size_t i = n_channels * share / n_shares;
         i < n_channels * (share + 1) / n_shares && !conv->copy_is_last; i++)
        copy_channel(conv, job->in, i, job->scratch);
}

/* Computes a thread's share of every subconvolution. */
static void compute_share(void *context, size_t share, size_t n_shares)
{
    const struct run *run = context;
    const struct indirect_convolution *conv = run->conv;
    float *sums = run->job->scratch + conv->copy_floats + share * conv->acc_floats;
    if (conv->is_by_channels)
        indirect_convolution_by_channels(conv, run->job, share, n_shares, sums);
    for (size_t i = 0; i < conv->n_subconvolutions && !conv->is_by_channels; i++) {
        size_t n_tiles = (size_t)conv->n_groups * conv->subconvolutions[i].n_column_tiles;
        compute_columns(run, &conv->subconvolutions[i], n_tiles * share / n_shares,
                        n_tiles * (share + 1) / n_shares, sums);
    }
}

static void run_epilogue(void *context, size_t share, size_t n_shares)
{
    const struct run *run = context;
    size_t n_out_channels = (size_t)(run->conv->c_out * run->conv->n_groups);
    size_t n_out = (size_t)window_product(run->conv->out);
    size_t begin = n_out_channels * share / n_shares;
    size_t end = n_out_channels * (share + 1) / n_shares;
    epilogue_run(run->job->epilogue, run->job->first + begin * n_out, (end - begin) * n_out);
}

static double count_macs(const struct indirect_convolution *conv)
{
    double n = 0;
    for (size_t i = 0; i < conv->n_subconvolutions; i++) {
        const struct subconvolution *sub = &conv->subconvolutions[i];
        n += conv->is_by_channels ? (double)(conv->ld_sums * sub->k) * (double)sub->n_positions
                                  : (double)(sub->n_row_tiles * sub->mr * sub->k) *
                                        (double)(sub->n_column_tiles * sub->nr);
    }
    return n * (double)conv->n_groups;
}

void indirect_convolution_run(const struct indirect_convolution *conv,
                              const struct indirect_convolution_job *job)
{
    struct run run = {conv, job, job->epilogue && (job->epilogue->is_map || conv->is_last)};
    size_t n_shares = thread_pool_n_parts(job->pool, count_macs(conv), SIZE_MAX);
    for (size_t i = 0; i < conv->n_subconvolutions && !conv->is_by_channels; i++)
        run.is_early &= count_sums(conv, &conv->subconvolutions[i]) >= EARLY_MIN_SUMS;
    if (!conv->is_masked && !conv->is_in_place)
        thread_pool_run(job->pool, copy_input, &run, n_shares);
    thread_pool_run(job->pool, compute_share, &run, n_shares);
    if (job->epilogue && !run.is_early)
        thread_pool_run(job->pool, run_epilogue, &run, n_shares);
}
