/* Runs depthwise convolutions and poolings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/depthwise_run.h"

#include "kernels/convolution.h"
#include "kernels/pool.h"

/* The epilogue runs as soon as this many floats, 16 KB, are computed. */
#define EPILOGUE_FLOATS 4096

/* Computes output channel out_channel from one input channel with the scalar loops. */
static void run_scalar(const struct run *run, const float *in, size_t out_channel, float *out)
{
    const struct depthwise *plan = run->plan;
    const struct epilogue *epilogue = run->job->epilogue;
    if (plan->term == DEPTHWISE_MAXIMA) {
        max_pool_scalar(IRRUN_F32)(&plan->window, in, out, NULL);
    } else if (plan->term == DEPTHWISE_SUMS) {
        avg_pool_scalar(IRRUN_F32)(&plan->window, plan->exclude_pad, in, out);
    } else {
        struct convolution one = {.window = plan->window, .c_in = 1, .c_out = 1};
        convolution_direct(IRRUN_F32)(&one, false, in,
                                      run->job->weights + out_channel * run->n_taps, out);
        for (size_t i = 0; i < run->n_out && epilogue && epilogue->bias; i++)
            out[i] += ((const float *)epilogue->bias)[out_channel];
    }
}

/* ---- Tiles -------------------------------------------------------------------------------- */

/* Selects the taps of a tile: along z and y, the taps that the windows in these spans contain;
 * along the innermost dimension, [begin, end). */
static void set_taps(const struct depthwise *plan, struct depthwise_tile *tile,
                     const struct depthwise_span *z, const struct depthwise_span *y, int64_t begin,
                     int64_t end)
{
    const int64_t *kernel = plan->window.kernel;
    bool is_whole = end - begin == kernel[2];
    int64_t n_lines = y->end - y->begin, first;
    first = (z->begin * kernel[1] + y->begin) * kernel[2] + begin;
    tile->first_tap = (size_t)first;
    tile->n_slices = (size_t)(z->end - z->begin);
    tile->n_lines = (size_t)(is_whole ? n_lines > 0 : n_lines);
    tile->n_taps = (size_t)(is_whole ? n_lines * kernel[2] : end - begin);
    tile->slice_taps = (size_t)(kernel[1] * kernel[2]);
    tile->line_taps = (size_t)kernel[2];
}

/* Computes all output rows of span y in slice z, for vectors along rows. */
static void run_strips(const struct depthwise *plan, struct depthwise_tile *tile, int64_t z,
                       const struct depthwise_span *y, const float *scales, float *out)
{
    const int64_t *size = plan->window.out;
    size_t lanes = plan->kernels->lanes;
    for (size_t i = 0; i < plan->n_strips; i++) {
        const struct depthwise_strip *strip = plan->strips + i;
        int64_t n_calls = strip->n_along > 0 ? y->n : 1, last = size[2] - strip->first;
        size_t n_floats = size_minimum(strip->n_vectors * lanes, (size_t)last);
        tile->n_stored = size_minimum(n_floats, lanes);
        tile->last = strip->n_along > 0 || n_floats < lanes ? 0 : n_floats - lanes;
        tile->n = strip->n_along > 0 ? strip->n_along : (size_t)y->n;
        tile->image_step = strip->n_along > 0 ? (ptrdiff_t)lanes : plan->steps[1];
        tile->out_step = strip->n_along > 0 ? lanes : (size_t)size[2];
        if (plan->term == DEPTHWISE_SUMS) {
            tile->adjustment = scales + strip->first;
            tile->adjustment_step = strip->n_along > 0 ? lanes : 0;
        }
        for (int64_t row = y->first; row < y->first + n_calls; row++) {
            tile->start = plan->origin + z * plan->steps[0] + row * plan->steps[1] + strip->first;
            tile->out = out + (z * size[1] + row) * size[2] + strip->first;
            plan->kernels->rows[plan->term][strip->n_vectors](tile);
        }
    }
}

/* With the channels last, a row of at least this many positions is one tile, whose positions share
 * the pixels that they load. */
#define PIXELS_ALONG_X 8

/* Computes the positions of spans y and x in slice z, for channels in lanes. Tiles lie along the
 * longer span, or along x if rows are whole or if many pixels are shared. */
static void run_rectangle(const struct depthwise *plan, struct depthwise_tile *tile, int64_t z,
                          const struct depthwise_span *y, const struct depthwise_span *x,
                          float *out)
{
    const int64_t *size = plan->window.out, *steps = plan->steps;
    bool is_along_x =
        x->n >= y->n || plan->has_whole_rows || (plan->channels_last && x->n >= PIXELS_ALONG_X);
    size_t out_steps[2] = {(size_t)size[2] * plan->pixel_floats, plan->pixel_floats};
    int64_t n_calls = is_along_x ? y->n : x->n;
    tile->n = (size_t)(is_along_x ? x->n : y->n);
    bool is_whole = x->begin == 0 && x->end == plan->window.kernel[2];
    tile->row_stride = is_whole && is_along_x && x->n >= DEPTHWISE_MIN_ROW ? plan->row_stride : 0;
    tile->first_pixel = x->first * plan->window.stride[2] - plan->window.pad_begin[2];
    tile->n_pixels = (size_t)plan->window.in[2];
    tile->image_step = steps[1 + is_along_x];
    tile->out_step = out_steps[is_along_x];
    tile->start = plan->origin + z * steps[0] + y->first * steps[1] + x->first * steps[2];
    tile->out = out + (size_t)((z * size[1] + y->first) * size[2] + x->first) * plan->pixel_floats;
    for (int64_t i = 0; i < n_calls; i++) {
        plan->kernels->pixels[plan->term](tile);
        tile->start += steps[2 - is_along_x];
        tile->out += out_steps[!is_along_x];
    }
}

/* Returns the part of a span that is in [begin, end). */
static struct depthwise_span clip(struct depthwise_span span, int64_t begin, int64_t end)
{
    int64_t last = span.first + span.n < end ? span.first + span.n : end;
    span.first = span.first > begin ? span.first : begin;
    span.n = last - span.first;
    return span;
}

void depthwise_run_box(const struct depthwise *plan, struct depthwise_tile *tile,
                       const struct box *box, float *out)
{
    const float *scales = plan->scales;
    tile->offsets = plan->offsets;
    for (size_t i = 0; i < plan->n_spans[0]; i++) {
        const struct depthwise_span zs = clip(plan->spans[0][i], box->begin[0], box->end[0]);
        for (size_t j = 0; j < plan->n_spans[1]; j++) {
            const struct depthwise_span y = clip(plan->spans[1][j], box->begin[1], box->end[1]);
            for (int64_t z = zs.first; z < zs.first + zs.n && !plan->is_blocked; z++) {
                set_taps(plan, tile, &zs, &y, 0, plan->window.kernel[2]);
                run_strips(plan, tile, z, &y, scales, out);
            }
            for (size_t k = 0; k < plan->n_spans[2] && plan->is_blocked && y.n > 0; k++) {
                const struct depthwise_span *x = plan->spans[2] + k;
                set_taps(plan, tile, &zs, &y, x->begin, x->end);
                if (plan->term == DEPTHWISE_SUMS)
                    tile->adjustment = scales + k;
                for (int64_t z = zs.first; z < zs.first + zs.n; z++)
                    run_rectangle(plan, tile, z, &y, x, out);
            }
            if (scales)
                scales += plan->is_blocked ? plan->n_spans[2] : (size_t)plan->window.out[2];
        }
    }
}

static void run_positions(const struct depthwise *plan, struct depthwise_tile *tile, float *out)
{
    const int64_t *size = plan->window.out;
    depthwise_run_box(plan, tile, &(struct box){{0, 0}, {size[0], size[1]}}, out);
}

/* ---- Rows --------------------------------------------------------------------------------- */

static void copy_channel(const struct run *run, const float *in, float *image)
{
    const struct depthwise *plan = run->plan;
    const struct window *w = &plan->window;
    for (size_t i = 0; i < plan->n_planes; i++) {
        const struct depthwise_plane *plane = plan->planes + i;
        plan->kernels->copy_rows(in + plane->from, (size_t)w->in[2], (size_t)w->stride[2],
                                 image + i * plan->plane_floats + (size_t)plane->first,
                                 (size_t)plan->strides[1], (size_t)plane->n,
                                 (size_t)(w->in[0] * w->in[1]));
    }
}

static void pool_2x2(const struct depthwise *plan, const float *in, float *out, float *check)
{
    const struct window *w = &plan->window;
    for (int64_t z = 0; z < w->out[0]; z++)
        plan->kernels->pool_2x2[plan->term](&(struct depthwise_pool_2x2){
            .in = in + z * w->in[1] * w->in[2],
            .in_row = (size_t)w->in[2],
            .out = out + z * w->out[1] * w->out[2],
            .n_rows = (size_t)w->out[1],
            .n = (size_t)w->out[2],
            .scale = plan->scales ? plan->scales[0] : 0,
            .check = check,
        });
}

/* Computes channel i, counted over all batch elements. */
static void run_channel(const struct run *run, size_t i, float *image)
{
    static const float zero = 0;
    const struct depthwise *plan = run->plan;
    const struct depthwise_job *job = run->job;
    const float *in = job->in + i * run->n_in;
    size_t multiplier = (size_t)plan->multiplier;
    size_t out_channel = i % (size_t)plan->n_channels * multiplier;
    float *out = job->out + i * multiplier * run->n_out;
    const float *bias = job->epilogue ? job->epilogue->bias : NULL;
    if (plan->is_copied)
        copy_channel(run, in, image);
    for (size_t j = 0; j < multiplier; j++, out_channel++, out += run->n_out) {
        float check[DEPTHWISE_MAX_LANES];
        bool is_scalar = false;
        struct depthwise_tile tile = {
            .image = plan->is_copied ? image : in,
            .weights = job->weights ? job->weights + out_channel * run->n_taps : NULL,
            .adjustment = bias ? bias + out_channel : &zero,
            .check = check,
        };
        reset_check(plan, check);
        if (plan->is_2x2_pool)
            pool_2x2(plan, in, out, check);
        else
            run_positions(plan, &tile, out);
        for (size_t lane = 0; lane < plan->kernels->lanes; lane++)
            is_scalar |= needs_scalar(plan, check[lane]);
        if (is_scalar)
            run_scalar(run, in, out_channel, out);
    }
}

static void run_channels(const struct run *run, size_t begin, size_t end, float *image)
{
    const struct depthwise *plan = run->plan;
    size_t n_out = run->n_out * (size_t)plan->multiplier, done = begin;
    for (size_t i = 0; i < plan->image_floats; i++)
        image[i] = plan->term == DEPTHWISE_MAXIMA ? -INFINITY : 0;
    for (size_t i = begin; i < end; i++) {
        run_channel(run, i, image);
        if ((i + 1 - done) * n_out < EPILOGUE_FLOATS && i + 1 < end)
            continue;
        epilogue_run(run->job->epilogue, done * n_out, (i + 1 - done) * n_out);
        done = i + 1;
    }
}

/* ---- A channel in each lane --------------------------------------------------------------- */

/* Computes one output channel from each of n input channels. The transposed input is at the
 * beginning of the scratch memory. out_channel and out belong to the first input channel. */
static void run_block(const struct run *run, const float *in, size_t n, float *scratch,
                      size_t out_channel, float *out)
{
    const struct depthwise *plan = run->plan;
    size_t lanes = plan->kernels->lanes, multiplier = (size_t)plan->multiplier;
    const float *bias = run->job->epilogue ? run->job->epilogue->bias : NULL;
    const float *bounds = epilogue_bounds(run->job->epilogue);
    float check[DEPTHWISE_MAX_LANES], start[DEPTHWISE_MAX_LANES] = {0};
    float *weights = scratch + plan->image_floats, *results = weights + run->n_taps * lanes;
    struct depthwise_tile tile = {
        .image = scratch,
        .weights = weights,
        .adjustment = start,
        .check = check,
        .n_channels = lanes,
        .block_weights = run->n_taps * lanes,
    };
    for (size_t i = 0; i < n && bias; i++)
        start[i] = bias[out_channel + i * multiplier];
    if (plan->term == DEPTHWISE_PRODUCTS)
        plan->kernels->to_blocked(run->job->weights + out_channel * run->n_taps,
                                  multiplier * run->n_taps, n, run->n_taps, weights);
    reset_check(plan, check);
    run_positions(plan, &tile, results);
    plan->kernels->from_blocked(results, out, multiplier * run->n_out, n, run->n_out, bounds,
                                plan->term == DEPTHWISE_PRODUCTS ? check : NULL);
    for (size_t i = 0; i < n; i++, out += multiplier * run->n_out) {
        if (!needs_scalar(plan, check[i]))
            continue;
        run_scalar(run, in + i * run->n_in, out_channel + i * multiplier, out);
        if (bounds)
            epilogue_run(run->job->epilogue, (size_t)(out - run->job->out), run->n_out);
    }
}

static void run_blocks(const struct run *run, size_t begin, size_t end, float *scratch)
{
    const struct depthwise *plan = run->plan;
    size_t lanes = plan->kernels->lanes, n_channels = (size_t)plan->n_channels;
    size_t n_blocks = (n_channels + lanes - 1) / lanes, multiplier = (size_t)plan->multiplier;
    size_t n_out = multiplier * run->n_out;
    for (size_t i = begin; i < end; i++) {
        size_t channel = i % n_blocks * lanes, n = size_minimum(lanes, n_channels - channel);
        size_t first = i / n_blocks * n_channels + channel;
        const float *in = run->job->in + first * run->n_in;
        plan->kernels->to_blocked(in, run->n_in, n, run->n_in, scratch);
        for (size_t j = 0; j < multiplier; j++)
            run_block(run, in, n, scratch, channel * multiplier + j,
                      run->job->out + first * n_out + j * run->n_out);
        if (!epilogue_bounds(run->job->epilogue))
            epilogue_run(run->job->epilogue, first * n_out, n * n_out);
    }
}

static void run_share(void *context, size_t share, size_t n_shares)
{
    const struct run *run = context;
    const struct depthwise *plan = run->plan;
    size_t n_channels = (size_t)plan->n_channels,
           lanes = plan->is_blocked ? plan->kernels->lanes : 1;
    if (plan->channels_last) {
        depthwise_run_last(run, share, n_shares);
        return;
    }
    size_t n = (size_t)plan->n_batches * ((n_channels + lanes - 1) / lanes);
    (plan->is_blocked ? run_blocks
                      : run_channels)(run, n * share / n_shares, n * (share + 1) / n_shares,
                                      run->job->scratch + share * plan->scratch_floats);
}

void depthwise_run(const struct depthwise *plan, const struct depthwise_job *job)
{
    struct run run = {plan, job, (size_t)window_product(plan->window.in),
                      (size_t)window_product(plan->window.out),
                      (size_t)window_product(plan->window.kernel)};
    double work = plan->n_terms + (double)run.n_in * (double)(plan->n_channels * plan->n_batches);
    thread_pool_run(job->pool, run_share, &run, thread_pool_n_parts(job->pool, work, SIZE_MAX));
}
