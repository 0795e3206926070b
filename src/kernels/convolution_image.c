/* Convolution as sums of shifted pieces of an image.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/convolution_image.h"

/* From so many multiplications on the work is shared: some 20 us of it. */
#define SHARE_FROM 1000000

/* ---- The image ---------------------------------------------------------------------------- */

/* The positions [first, end) of a line of `size` at whose `stride`-th places from `at` on there is
 * input. */
static void find_inside(int64_t at, int64_t stride, int64_t in, int64_t size, int64_t *first,
                        int64_t *end)
{
    *first = at < 0 ? (-at + stride - 1) / stride : 0;
    *end = in > at ? (in - at + stride - 1) / stride : 0;
    *end = *end < size ? *end : size;
    *first = *first < *end ? *first : *end;
}

static inline void copy_strided(const float *restrict from, int64_t stride, float *restrict to,
                                int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i * stride];
}

#define SHORT_ROW 16 /* floats: below, a call costs more than a loop */

static inline void copy_row(const float *from, float *to, int64_t n)
{
    if (n >= SHORT_ROW)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        copy_strided(from, 1, to, n);
}

/* Places [first, end) of a line of `size` are input, from `row` on, every stride-th element. */
static void lay_line(const float *row, int64_t stride, int64_t first, int64_t end, int64_t size,
                     float *to)
{
    for (int64_t x = 0; x < first; x++)
        to[x] = 0;
    if (stride == 1)
        copy_row(row, to + first, end - first);
    else if (stride == 2) /* in vectors */
        copy_strided(row, 2, to + first, end - first);
    else
        copy_strided(row, stride, to + first, end - first);
    for (int64_t x = end; x < size; x++)
        to[x] = 0;
}

/* Plane (n[0], n[1], n[2]) of a channel. */
static void lay_plane(const struct convolution_image *image, const float *in, const int64_t n[3],
                      float *to)
{
    const struct window *w = &image->window;
    int64_t first, end, stride = w->stride[2], at = n[2] - w->pad_begin[2];
    find_inside(at, stride, w->in[2], image->plane[2], &first, &end);
    at += first * stride;
    for (int64_t z = 0; z < image->plane[0]; z++) {
        int64_t in_z = z * w->stride[0] - w->pad_begin[0] + n[0];
        for (int64_t y = 0; y < image->plane[1]; y++, to += image->plane[2]) {
            int64_t in_y = y * w->stride[1] - w->pad_begin[1] + n[1];
            if (in_z < 0 || in_z >= w->in[0] || in_y < 0 || in_y >= w->in[1] || first >= end)
                memset(to, 0, (size_t)image->plane[2] * sizeof *to);
            else
                lay_line(in + (in_z * w->in[1] + in_y) * w->in[2] + at, stride, first, end,
                         image->plane[2], to);
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

/* What n positions along a row of a plane become in one dimension: those in [first, end) go to
 * start + i * spread. */
struct landing {
    int64_t start, first, end;
};

static struct landing find_landing(const struct convolution_image *image, int d, int64_t p,
                                   int64_t n, int64_t phase)
{
    int64_t spread = image->spread[d];
    struct landing landing = {.start = p * spread + phase - image->skipped[d]};
    int64_t room = image->out[d] - landing.start;
    landing.first = landing.start < 0 ? -landing.start : 0;
    landing.end = room < 0 ? 0 : room;
    if (spread != 1) { /* a division is dear where rows are short */
        landing.first = (landing.first + spread - 1) / spread;
        landing.end = (landing.end + spread - 1) / spread;
    }
    landing.end = landing.end < n ? landing.end : n;
    return landing;
}

/* n positions from p on, along a row of a plane, of all channels with one phase. */
static void store_rows(const struct convolution_image *image, const struct image_part *part,
                       const float *sums, const int64_t p[3], int64_t n, const int64_t phase[3],
                       float *out)
{
    const int64_t *size = image->out;
    struct landing z = find_landing(image, 0, p[0], 1, phase[0]);
    struct landing y = find_landing(image, 1, p[1], 1, phase[1]);
    struct landing x = find_landing(image, 2, p[2], n, phase[2]);
    int64_t spread = image->spread[2], n_out = window_product(size);
    size_t step = (size_t)window_product(part->n_phases) * part->width;
    if (z.first >= z.end || y.first >= y.end || x.first >= x.end)
        return;
    out += (z.start * size[1] + y.start) * size[2];
    for (int64_t channel = 0; channel < image->c_out; channel++, out += n_out, sums += step) {
        if (spread == 1)
            copy_row(sums + x.first, out + x.start + x.first, x.end - x.first);
        for (int64_t i = x.first; i < x.end && spread != 1; i++)
            out[x.start + i * spread] = sums[i];
    }
}

/* A tile's positions of all channels and of a part's phases. */
static void store_tile(const struct convolution_image *image, const struct image_part *part,
                       const float *sums, size_t first, float *out)
{
    const int64_t *plane = image->plane, *size = image->window.out;
    const int64_t *begin = part->first_phase, *n_phases = part->n_phases;
    int64_t line = (int64_t)first / plane[2], n, left = (int64_t)part->width;
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
                for (f[2] = begin[2]; f[2] < begin[2] + n_phases[2]; f[2]++, row += part->width)
                    store_rows(image, part, row, q, n_inside, f, out);
    }
}

/* What the sums of every channel and phase begin with; behind the sums. */
static float *begin_sums(const struct image_part *part, size_t c_out, const float *bias,
                         float *sums)
{
    size_t n_phases = (size_t)window_product(part->n_phases), n_rows = part->n_blocks * part->rows;
    float *starts = sums + n_rows * part->width;
    for (size_t row = 0; row < n_rows; row++)
        starts[row] = row < n_phases * c_out ? bias[row / n_phases] : 0;
    return starts;
}

/* Which tile does for positions first ... of a group that begins n_before floats into what can be
 * read. */
static enum image_tile_kind choose_kind(const struct convolution_image *image,
                                        const struct image_part *part, int64_t first,
                                        int64_t n_before, int64_t n_behind)
{
    if (!image->is_flat)
        return TILE_WHOLE;
    bool is_inside = n_before + first + image->lowest >= 0 &&
                     first + image->highest + (int64_t)part->width <= n_behind;
    return is_inside ? TILE_MASKED : TILE_EDGE;
}

/* A part without a term gives what its sums begin with. */
static void compute_tile(const struct convolution_image *image, const struct image_part *part,
                         enum image_tile_kind kind, const float *pixels, size_t first,
                         const float *packed, const float *starts, float *sums)
{
    size_t done = 0, n;
    do {
        n = part->k - done < part->block_k ? part->k - done : part->block_k;
        for (size_t block = 0; block < part->n_blocks; block++, packed += n * part->rows) {
            part->tiles[kind](&(struct image_tile){
                .k = n,
                .image = pixels + first,
                .masks = image->masks + (image->is_flat ? first / 8 : 0),
                .pieces = image->pieces + part->first_piece + done,
                .weights = packed,
                .sums = sums + block * part->rows * part->width,
                .starts = starts && done == 0 ? starts + block * part->rows : NULL,
                .is_added = done > 0,
            });
        }
        done += n;
    } while (done < part->k);
}

/* So many sums of a tile are worth an epilogue of their own. */
#define EARLY_FROM 1024

struct run {
    const struct convolution_image *image;
    const struct convolution_image_job *job;
    bool is_early; /* the epilogue runs on the sums of a tile, else on the whole output */
};

static size_t count_sums(const struct convolution_image *image, const struct image_part *part)
{
    return (size_t)(image->c_out * window_product(part->n_phases)) * part->width;
}

/* Tiles begin … end - 1 of all groups'. */
static void compute_tiles(const struct run *run, const struct image_part *part, size_t begin,
                          size_t end, float *sums)
{
    const struct convolution_image *image = run->image;
    const struct convolution_image_job *job = run->job;
    size_t n_group = (size_t)image->c_in * image->channel, c_out = (size_t)image->c_out;
    size_t n_out = c_out * (size_t)window_product(image->out);
    size_t n_weights = part->n_blocks * part->rows * part->k;
    const float *bias = job->epilogue ? job->epilogue->bias : NULL, *starts = NULL;
    const float *pixels = image->is_flat ? job->in : job->memory;
    const float *packed = job->packed + part->first_weight;
    for (size_t i = begin; i < end; i++) {
        size_t group = i / part->n_tiles, first = i % part->n_tiles * part->width;
        if (bias && (i == begin || first == 0))
            starts = begin_sums(part, c_out, bias + group * c_out, sums);
        int64_t n_before = (int64_t)(job->n_before + group * n_group);
        int64_t n_behind = (int64_t)(n_group * ((size_t)image->n_groups - group) + job->n_behind);
        compute_tile(image, part, choose_kind(image, part, (int64_t)first, n_before, n_behind),
                     pixels + group * n_group, first, packed + group * n_weights, starts, sums);
        if (run->is_early)
            epilogue_run_on(job->epilogue, sums, count_sums(image, part));
        store_tile(image, part, sums, first, job->out + group * n_out);
    }
}

static void lay_image(const struct convolution_image *image,
                      const struct convolution_image_job *job, size_t share, size_t n_shares)
{
    size_t n_channels = (size_t)(image->c_in * image->n_groups);
    size_t n_in = (size_t)window_product(image->window.in);
    for (size_t i = n_channels * share / n_shares; i < n_channels * (share + 1) / n_shares; i++)
        lay_channel(image, job->in + i * n_in, job->memory + i * image->channel);
    if (n_shares > 1)
        thread_pool_barrier(job->pool, share);
}

/* A thread's share of every part. */
static void run_share(void *context, size_t share, size_t n_shares)
{
    const struct run *run = context;
    const struct convolution_image *image = run->image;
    const struct convolution_image_job *job = run->job;
    size_t n_out_channels = (size_t)image->c_out * (size_t)image->n_groups;
    size_t n_out = (size_t)window_product(image->out);
    float *sums = job->memory + image->image_floats + share * image->sums_floats;

    if (!image->is_flat)
        lay_image(image, job, share, n_shares);
    for (size_t i = 0; i < image->n_parts; i++) {
        size_t n_tiles = (size_t)image->n_groups * image->parts[i].n_tiles;
        compute_tiles(run, &image->parts[i], n_tiles * share / n_shares,
                      n_tiles * (share + 1) / n_shares, sums);
    }
    if (run->is_early || !job->epilogue)
        return;
    if (n_shares > 1)
        thread_pool_barrier(job->pool, share);
    size_t begin = n_out_channels * share / n_shares;
    size_t end = n_out_channels * (share + 1) / n_shares;
    epilogue_run(job->epilogue, job->first + begin * n_out, (end - begin) * n_out);
}

void convolution_by_image(const struct convolution_image *image,
                          const struct convolution_image_job *job)
{
    struct run run = {image, job, job->epilogue && job->epilogue->is_map};
    for (size_t i = 0; i < image->n_parts; i++)
        run.is_early &= count_sums(image, &image->parts[i]) >= EARLY_FROM;
    thread_pool_run(job->pool, run_share, &run,
                    image->n_products >= SHARE_FROM ? thread_pool_n_threads(job->pool) : 1);
}
