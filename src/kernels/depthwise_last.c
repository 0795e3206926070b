/* Runs depthwise convolutions and max pooling with the channels last.
 * SPDX-License-Identifier: Apache-2.0 */
#include <float.h>

#include "kernels/depthwise_run.h"
#include "tensor/half.h"

/* The epilogue runs after this many floats, while they are in the cache. */
#define PART_FLOATS 16384

/* This many weights, and the pixels that they multiply, stay in an L1 cache. */
#define CHUNK_FLOATS 2048

/* Returns whether the window of a position contains -inf. `in`: a channel of a batch element. */
static bool has_minus_infinity(const struct depthwise *plan, size_t position, const float *in)
{
    const struct window *w = &plan->window;
    int64_t o[3], first[3], end[3], at[3];
    window_unravel(w->out, (int64_t)position, o);
    for (int d = 0; d < 3; d++) {
        window_inside(w, d, o[d], &first[d], &end[d]);
        at[d] = o[d] * w->stride[d] - w->pad_begin[d];
    }
    for (int64_t z = first[0]; z < end[0]; z++) {
        for (int64_t y = first[1]; y < end[1]; y++) {
            int64_t slice = at[0] + z * w->dilation[0], row = at[1] + y * w->dilation[1];
            for (int64_t x = first[2]; x < end[2]; x++) {
                int64_t i = (slice * w->in[1] + row) * w->in[2] + at[2] + x * w->dilation[2];
                if (in[(size_t)i * plan->pixel_floats] == -INFINITY)
                    return true;
            }
        }
    }
    return false;
}

/* Replaces a maximum of -inf with the lowest finite number, as max_pool_fn does, if the window has
 * no elements or only NaN. Checks results [begin, end) of a batch element. */
static void raise_maxima(const struct depthwise *plan, const float *in, float *out, size_t begin,
                         size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (out[i] == -INFINITY &&
            !has_minus_infinity(plan, i / plan->pixel_floats, in + i % plan->pixel_floats))
            out[i] = -FLT_MAX;
}

/* Computes a box, one chunk of channels after another. A chunk is a multiple of the number of
 * channels that a kernel computes side by side; the last chunk also takes the rest. */
static void run_chunks(const struct run *run, struct depthwise_tile *tile, const struct box *box,
                       float *out)
{
    const struct depthwise *plan = run->plan;
    size_t least = DEPTHWISE_CHANNEL_VECTORS * plan->kernels->lanes, n_taps = run->n_taps;
    size_t chunk = CHUNK_FLOATS / n_taps / least * least, left = plan->pixel_floats;
    chunk = chunk > 0 ? chunk : least;
    while (left > 0) {
        tile->n_channels = left < 2 * chunk ? left : chunk;
        depthwise_run_box(plan, tile, box, out);
        tile->image += tile->n_channels;
        if (tile->weights)
            tile->weights += tile->n_channels * n_taps;
        if (tile->adjustment)
            tile->adjustment += tile->n_channels;
        out += tile->n_channels;
        left -= tile->n_channels;
    }
}

/* Computes the rows of a part, for all channels. */
static void run_part(const struct run *run, size_t batch, const struct box *box)
{
    const struct depthwise *plan = run->plan;
    const struct epilogue *epilogue = run->job->epilogue;
    size_t n_row = (size_t)plan->window.out[2] * plan->pixel_floats,
           n_batch = run->n_out * plan->pixel_floats;
    float check[DEPTHWISE_MAX_LANES], *out = run->job->out + batch * n_batch;
    const float *in = run->job->in + batch * run->n_in * plan->pixel_floats;
    struct depthwise_tile tile = {
        .image = in,
        .weights = run->job->weights,
        .adjustment = epilogue ? epilogue->bias : NULL,
        .block_weights = run->n_taps * plan->kernels->lanes,
        .bounds = epilogue_bounds(epilogue),
        .check = check,
    };
    reset_check(plan, check);
    run_chunks(run, &tile, box, out);
    size_t first = (size_t)(box->begin[0] * plan->window.out[1] + box->begin[1]) * n_row;
    size_t n = (size_t)(box->end[1] - box->begin[1]) * n_row;
    for (size_t lane = 0; lane < plan->kernels->lanes && plan->term == DEPTHWISE_MAXIMA; lane++) {
        if (!needs_scalar(plan, check[lane]))
            continue;
        raise_maxima(plan, in, out, first, first + n);
        break;
    }
    if (!tile.bounds && epilogue && epilogue->is_map)
        epilogue_run_on(epilogue, out + first, n);
    else if (!tile.bounds)
        epilogue_run(epilogue, run->job->first + batch * n_batch + first, n);
}

void depthwise_run_rows(const struct depthwise *plan, const struct depthwise_job *job,
                        int64_t begin, int64_t end)
{
    struct run run = {.plan = plan, .job = job};
    run.n_taps = (size_t)window_product(plan->window.kernel);
    run_part(&run, 0, &(struct box){{0, begin}, {1, end}});
}

void depthwise_pack(const struct depthwise *plan, const void *weights, bool is_f16, float *packed)
{
    size_t lanes = plan->kernels->lanes, n = size_minimum(lanes, plan->pixel_floats);
    size_t n_taps = (size_t)window_product(plan->window.kernel);
    const float *f32 = weights;
    const uint16_t *f16 = weights;
    for (size_t i = 0; i < plan->pixel_floats; i += lanes) {
        size_t first = size_minimum(i, plan->pixel_floats - n) * n_taps;
        for (size_t tap = 0; tap < n_taps; tap++) {
            for (size_t lane = 0; lane < lanes; lane++) {
                size_t at = first + lane * n_taps + tap;
                *packed++ = lane >= n ? 0 : is_f16 ? f16_to_f32(f16[at]) : f32[at];
            }
        }
    }
}

/* Products are not checked, since the scalar loops would add the same terms. */
void depthwise_run_last(const struct run *run, size_t share, size_t n_shares)
{
    const struct depthwise *plan = run->plan;
    const int64_t *size = plan->window.out;
    size_t n_row = (size_t)size[2] * plan->pixel_floats, n_rows = (size_t)size[1];
    size_t n_parts = (n_row * n_rows + PART_FLOATS - 1) / PART_FLOATS;
    n_parts = (n_parts + n_shares - 1) / n_shares * n_shares;
    n_parts = size_minimum(n_parts, n_rows);
    size_t n = (size_t)(plan->n_batches * size[0]) * n_parts;
    for (size_t i = n * share / n_shares; i < n * (share + 1) / n_shares; i++) {
        int64_t plane = (int64_t)(i / n_parts), z = plane % size[0];
        size_t part = i % n_parts;
        struct box box = {{z, (int64_t)(n_rows * part / n_parts)},
                          {z + 1, (int64_t)(n_rows * (part + 1) / n_parts)}};
        run_part(run, (size_t)(plane / size[0]), &box);
    }
}
