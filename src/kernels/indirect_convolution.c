/* Runs an indirect convolution. With positions in the lanes, computes tiles of the product and
 * stores them; indirect_convolution_channels.c runs the variant with channels in the lanes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indirect_convolution.h"

/* The output positions in one dimension at which a row of sums is stored: sum i in [first, end) is
 * stored at start + i * out_stride; the remaining sums are not stored. */
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
    if (stride != 1) { /* divisions are expensive for short rows */
        destination.first = (destination.first + stride - 1) / stride;
        destination.end = (destination.end + stride - 1) / stride;
    }
    destination.end = destination.end < n ? destination.end : n;
    return destination;
}

/* Stores the sums of all channels of one phase at n positions of a row, from p on. */
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

/* Stores a column of tiles: nr positions for all channels and phases of a subconvolution. */
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

/* Chooses the masking for the positions from `first` on. n_before floats before the start of the
 * group's input and n_after floats from the start on are readable. */
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

/* Computes one column of tiles for all rows of A. If k is 0, the sums are the bias. */
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

/* The minimum number of sums of a column for the epilogue to run on them before they are stored. */
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

/* Computes columns of tiles begin … end - 1, numbered over all groups. */
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
    indirect_convolution_copy(run->conv, run->job->in, share, n_shares, run->job->scratch);
}

/* Computes a thread's share of every subconvolution. */
static void compute_share(void *context, size_t share, size_t n_shares)
{
    const struct run *run = context;
    const struct indirect_convolution *conv = run->conv;
    float *sums = run->job->scratch + conv->copy_floats + share * share_floats(conv);
    if (conv->channels_in_lanes)
        indirect_convolution_by_channels(conv, run->job, share, n_shares, sums);
    for (size_t i = 0; i < conv->n_subconvolutions && !conv->channels_in_lanes; i++) {
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
        n += conv->channels_in_lanes ? (double)(conv->ld_sums * sub->k) * (double)sub->n_positions
                                     : (double)(sub->n_row_tiles * sub->mr * sub->k) *
                                           (double)(sub->n_column_tiles * sub->nr);
    }
    return n * (double)conv->n_groups;
}

#define TILE_POSITIONS 4 /* positions of the smallest tile at any level */

/* Returns the maximum useful number of shares. With channels in the lanes, each share reads all
 * weights, which takes as long for a few positions as for a tile. */
static size_t max_shares(const struct indirect_convolution *conv)
{
    size_t n = 0;
    for (size_t i = 0; i < conv->n_subconvolutions; i++)
        n += conv->subconvolutions[i].n_positions * (size_t)conv->n_groups;
    return !conv->channels_in_lanes ? SIZE_MAX : n < TILE_POSITIONS ? 1 : n / TILE_POSITIONS;
}

void indirect_convolution_run(const struct indirect_convolution *conv,
                              const struct indirect_convolution_job *job)
{
    struct run run = {conv, job,
                      job->epilogue && (job->epilogue->is_map || conv->out_channels_last)};
    size_t n_shares = thread_pool_n_parts(job->pool, count_macs(conv), max_shares(conv));
    for (size_t i = 0; i < conv->n_subconvolutions && !conv->channels_in_lanes; i++)
        run.is_early &= count_sums(conv, &conv->subconvolutions[i]) >= EARLY_MIN_SUMS;
    if (!conv->is_masked && !conv->is_in_place && conv->copy_rows == 0)
        thread_pool_run(job->pool, copy_input, &run, n_shares);
    thread_pool_run(job->pool, compute_share, &run, n_shares);
    if (job->epilogue && !run.is_early)
        thread_pool_run(job->pool, run_epilogue, &run, n_shares);
}
