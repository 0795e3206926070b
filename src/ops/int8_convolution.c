/* Int8 convolutions. Consecutive taps of an output pixel are adjacent in the image, and the kernels
 * read them in place. An image that needs pads is first copied with its pads. Where rows of pixels
 * or of taps are too short for tiles, the taps are copied to rows of a matrix.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/cost.h"
#include "ops/int8_borders.h"
#include "ops/int8_ops.h"

#define READ_AHEAD 16  /* bytes after a padded image, since the kernels load 16 bytes at a time */
#define BLOCK 48       /* pixels: a multiple of the rows of every tile */
#define SPLIT_GROUPS 8 /* groups of channels of a unit of work, if there are few blocks */
#define MIN_GATHERED_OUT 48 /* fewer channels do not repay the copies */

struct int8_state {
    struct window window; /* dimension 0 is 1 */
    const struct int8_kernels *kernels;
    transpose_f32_fn *transpose;
    struct int8_borders borders;
    size_t n_batches, n_in, n_out; /* pixels of a batch element */
    size_t out[2];                 /* rows and columns; 1 row if pixels are as in the input */
    bool is_padded;                /* the image is copied with its pads */
    size_t height, width;          /* of the padded image */
    size_t n_blocks;               /* in a row */
    bool is_gathered;              /* taps are copied; all pixels count as one row */
    size_t n_quads;                /* of a segment of a product */
    size_t n_splits;               /* of the groups of channels; 1 unless is_gathered */
    size_t tile_rows;              /* of products, or 0 */
    size_t n_parts, part_bytes;    /* part_bytes: of scratch for each part, after the image */
    size_t image_bytes, sums_at, rows_at; /* offsets in a part: of f32 results, of copied taps */
};

static bool infer(struct infer *infer)
{
    const struct int8_convolution_attrs *attrs = infer->attrs;
    struct int8_state *state = infer->state;
    const struct irrun_shape *in = &infer->in[0]->shape;
    uint32_t n_spatial = attrs->n_spatial;
    if (in->dims[1 + n_spatial] != (int64_t)attrs->c_in)
        return infer_fail_input(infer, 0, "%zu channels, as the filters have", attrs->c_in);
    struct window *window = &state->window;
    if (!infer_window(infer, &attrs->window, n_spatial, in->dims + 1, attrs->kernel + 2 - n_spatial,
                      window))
        return false;
    int64_t n = in->dims[0], channels = (int64_t)attrs->c_out, *sizes = window->out + 3 - n_spatial;
    state->n_batches = (size_t)n;
    state->n_in = (size_t)window_product(window->in);
    state->n_out = (size_t)window_product(window->out);
    struct irrun_shape out = {.rank = 2 + n_spatial, .dims = {n}};
    bool is_u8 = attrs->to == INT8_TO_U8;
    out.dims[is_u8 ? 1 + n_spatial : 1] = channels;
    memcpy(out.dims + (is_u8 ? 1 : 2), sizes, n_spatial * sizeof *sizes);
    return infer_output(infer, 0, is_u8 ? IRRUN_U8 : IRRUN_F32, &out);
}

/* Returns how many pixels the windows cover along a dimension. */
static int64_t reach(const struct window *window, int d)
{
    int64_t steps = window->out[d] > 0 ? window->out[d] - 1 : 0;
    return steps * window->stride[d] + (window->kernel[d] - 1) * window->dilation[d] + 1;
}

/* Decides whether the image is copied. The last quad of a segment may extend past its end. */
static void find_image(const struct int8_convolution_attrs *attrs, struct int8_state *state)
{
    const struct window *w = &state->window;
    state->is_padded = !attrs->is_depthwise && attrs->segment_bytes % INT8_QUAD != 0;
    for (int d = 1; d < 3; d++)
        state->is_padded = state->is_padded || w->pad_begin[d] != 0 || reach(w, d) > w->in[d];
    state->height = (size_t)reach(w, 1);
    state->width = (size_t)(state->is_padded ? reach(w, 2) : w->in[2]);
    bool is_flat = !state->is_padded && window_product(w->kernel) == 1 &&
                   window_product(w->stride) == 1 && w->in[2] == w->out[2];
    state->out[0] = is_flat ? 1 : (size_t)w->out[1];
    state->out[1] = is_flat ? state->n_out : (size_t)w->out[2];
}

static size_t k_bytes(const struct int8_convolution_attrs *attrs)
{
    return attrs->n_segments * int8_n_quads(attrs->segment_bytes) * INT8_QUAD;
}

/* Decides whether taps are copied: that saves a quarter of the tiles, or makes tiles possible. */
static void find_gathering(const struct int8_convolution_attrs *attrs, double work,
                           struct int8_state *state)
{
    size_t n = state->n_out;
    size_t tile_rows =
        int8_tile_rows(state->kernels, n < BLOCK ? n : BLOCK, k_bytes(attrs) / INT8_QUAD, work);
    size_t n_by_rows = state->out[0] * divide_up(state->out[1], TILE_ROWS);
    bool is_short =
        state->n_quads < INT8_TILE_MIN_QUADS || 4 * divide_up(n, TILE_ROWS) <= 3 * n_by_rows;
    if (attrs->is_depthwise || attrs->c_out < MIN_GATHERED_OUT || !is_short || tile_rows == 0)
        return;
    state->is_gathered = true;
    state->n_quads = k_bytes(attrs) / INT8_QUAD;
    state->out[0] = 1;
    state->out[1] = n;
    if (divide_up(n, BLOCK) < SPLIT_GROUPS)
        state->n_splits = divide_up(int8_n_groups(attrs->c_out), SPLIT_GROUPS);
}

static bool size_scratch(struct prepare *prepare, const struct int8_convolution_attrs *attrs,
                         struct int8_state *state)
{
    size_t parts_bytes, image_bytes = 0;
    state->sums_at = align_to_line((attrs->n_segments + BLOCK) * sizeof(void *));
    state->rows_at =
        state->sums_at +
        (attrs->to == INT8_TO_F32 ? align_to_line(BLOCK * attrs->c_out * sizeof(float)) : 0);
    state->part_bytes =
        state->rows_at + (state->is_gathered ? align_to_line(BLOCK * k_bytes(attrs)) : 0);
    if (state->is_padded && (!checked_mul(state->height, state->width, &image_bytes) ||
                             !checked_mul(image_bytes, attrs->c_in, &image_bytes) ||
                             !checked_add(image_bytes, READ_AHEAD + 63, &image_bytes)))
        return fail_memory(prepare->err, SIZE_MAX);
    state->image_bytes = image_bytes / 64 * 64;
    return (checked_mul(state->n_parts, state->part_bytes, &parts_bytes) &&
            checked_add(parts_bytes, state->image_bytes, &prepare->made.scratch_bytes)) ||
           fail_memory(prepare->err, SIZE_MAX);
}

static bool prepare(struct prepare *prepare)
{
    const struct int8_convolution_attrs *attrs = prepare->attrs;
    struct int8_state *state = prepare->state;
    size_t k = attrs->n_segments * (attrs->is_depthwise ? 1 : attrs->segment_bytes);
    state->kernels = prepare->kernels->gemm_int8;
    state->transpose = prepare->kernels->transpose_f32;
    find_image(attrs, state);
    double work = (double)state->n_out * (double)k * (double)attrs->c_out / 4;
    state->n_splits = 1;
    state->n_quads = int8_n_quads(attrs->segment_bytes);
    find_gathering(attrs, work, state);
    state->n_blocks = divide_up(state->out[1], BLOCK);
    if (!attrs->is_depthwise && state->n_blocks > 0)
        state->tile_rows =
            int8_tile_rows(state->kernels, state->out[1] / state->n_blocks, state->n_quads, work);
    state->n_parts = thread_pool_n_parts(prepare->pool, work,
                                         state->out[0] * state->n_blocks * state->n_splits + 1);
    return size_scratch(prepare, attrs, state) &&
           int8_borders_find(prepare, &state->window, &attrs->border,
                             int8_n_groups(attrs->c_out) * INT8_GROUP, &state->borders);
}

/* The work on one batch element. */
struct job {
    const struct int8_convolution_attrs *attrs;
    const struct int8_state *state;
    const uint8_t *in, *image, *end; /* image: the input or its padded copy; end: of both */
    void *out;
    unsigned char *scratch;
};

/* Copies row y of the image with its pads. */
static void copy_row(const struct job *job, size_t y)
{
    const struct window *w = &job->state->window;
    size_t c = job->attrs->c_in;
    uint8_t *to = (uint8_t *)job->scratch + y * job->state->width * c;
    int64_t row = (int64_t)y - w->pad_begin[1], left = w->pad_begin[2];
    int64_t width = (int64_t)job->state->width, first = left > 0 ? left : 0;
    int64_t end = w->in[2] + left < width ? w->in[2] + left : width;
    if (row < 0 || row >= w->in[1] || first >= end)
        first = end = width;
    else
        memcpy(to + (size_t)first * c, job->in + (size_t)(row * w->in[2] + first - left) * c,
               (size_t)(end - first) * c);
    for (int64_t x = 0; x < first; x++)
        memcpy(to + (size_t)x * c, job->attrs->zeros, c);
    for (int64_t x = end; x < width; x++)
        memcpy(to + (size_t)x * c, job->attrs->zeros, c);
}

static void copy_rows(void *context, size_t part, size_t n_parts)
{
    const struct job *job = context;
    size_t height = job->state->height;
    for (size_t y = height * part / n_parts; y < height * (part + 1) / n_parts; y++)
        copy_row(job, y);
}

/* Consecutive output pixels of a row. */
struct block {
    size_t row, column, n;
    size_t begin, end;          /* groups of channels */
    const uint8_t **segments;   /* of the first pixel */
    const float *const *biases; /* NULL: all pixels have the same */
    void *c;
};

static void find_segments(const struct job *job, struct block *block)
{
    const struct window *w = &job->state->window;
    size_t c = job->attrs->c_in, row_bytes = job->state->width * c;
    size_t column = job->state->is_gathered ? 0 : block->column;
    const uint8_t *first = job->image + block->row * (size_t)w->stride[1] * row_bytes +
                           column * (size_t)w->stride[2] * c;
    size_t n_columns = job->attrs->n_segments / (size_t)w->kernel[1];
    for (size_t i = 0; i < job->attrs->n_segments; i++)
        block->segments[i] = first + i / n_columns * (size_t)w->dilation[1] * row_bytes +
                             i % n_columns * (size_t)w->dilation[2] * c;
}

/* width: of a row of the output. */
static void find_biases(const struct int8_borders *borders, size_t width, struct block *block,
                        const float **biases)
{
    if (!borders->biases)
        return;
    for (size_t i = 0; i < block->n; i++) {
        size_t pixel = block->column + i;
        biases[i] = int8_borders_bias(borders, block->row + pixel / width, pixel % width);
    }
    block->biases = biases;
}

static void copy_quads(const uint8_t *restrict from, uint8_t *restrict to, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        memcpy(to + i, from + i, 16);
    for (; i < n; i += INT8_QUAD)
        memcpy(to + i, from + i, INT8_QUAD);
}

/* Copies the taps of each pixel to a row, and makes the rows the only segment. */
static void gather(const struct job *job, struct block *block, uint8_t *rows)
{
    const struct window *w = &job->state->window;
    size_t bytes = int8_n_quads(job->attrs->segment_bytes) * INT8_QUAD, width = (size_t)w->out[2];
    size_t pixel_step = (size_t)w->stride[2] * job->attrs->c_in;
    size_t row_step = (size_t)w->stride[1] * job->state->width * job->attrs->c_in;
    uint8_t *to = rows;
    for (size_t pixel = block->column; pixel < block->column + block->n; pixel++) {
        size_t at = pixel / width * row_step + pixel % width * pixel_step;
        for (size_t i = 0; i < job->attrs->n_segments; i++, to += bytes)
            copy_quads(block->segments[i] + at, to, bytes);
    }
    block->segments[0] = rows;
}

static void multiply(const struct job *job, const struct block *block)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    bool is_gathered = job->state->is_gathered;
    job->state->kernels->multiply(&(struct int8_product){
        .m = block->n,
        .n = attrs->c_out,
        .n_segments = is_gathered ? 1 : attrs->n_segments,
        .n_quads = job->state->n_quads,
        .begin = block->begin,
        .end = block->end,
        .tile_rows = job->state->tile_rows,
        .a = block->segments,
        .lda = is_gathered ? k_bytes(attrs) : (size_t)job->state->window.stride[2] * attrs->c_in,
        .b = attrs->filters,
        .excess = attrs->excess,
        .start = attrs->start,
        .to = attrs->to,
        .requantization = attrs->requantization,
        .row_biases = block->biases,
        .c = block->c,
        .ldc = attrs->c_out,
    });
}

static void convolve_channels(const struct job *job, const struct block *block)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    const struct window *w = &job->state->window;
    job->state->kernels->depthwise(&(struct int8_depthwise){
        .n = block->n,
        .n_taps = attrs->n_segments,
        .n_channels = attrs->c_out,
        .taps = block->segments,
        .pixel_stride = (size_t)w->stride[2] * attrs->c_in,
        .row_taps = w->dilation[2] == w->stride[2] ? (size_t)w->kernel[2] : 1,
        .end = job->end,
        .weights = attrs->weights,
        .start = attrs->start,
        .to = attrs->to,
        .requantization = attrs->requantization,
        .pixel_biases = block->biases,
        .c = block->c,
    });
}

/* Transposes the channels of a block of pixels, from `pixel` on, to planes. */
static void to_planes(const struct job *job, const struct block *block, size_t pixel)
{
    size_t n_out = job->state->n_out, c_out = job->attrs->c_out, first = block->begin * INT8_GROUP;
    size_t end = block->end * INT8_GROUP;
    job->state->transpose(&(struct transpose_f32){
        .n_rows = block->n,
        .n_columns = (end < c_out ? end : c_out) - first,
        .from = (const float *)block->c + first,
        .from_stride = c_out,
        .to = (float *)job->out + first * n_out + pixel,
        .to_stride = n_out,
    });
}

/* Computes a block of a row, or some of its channels. The blocks have nearly equal size. */
static void run_block(const struct job *job, size_t unit, unsigned char *scratch)
{
    const struct int8_state *state = job->state;
    const struct int8_convolution_attrs *attrs = job->attrs;
    size_t split = unit % state->n_splits, n_groups = int8_n_groups(attrs->c_out);
    size_t row = unit / state->n_splits / state->n_blocks;
    size_t i = unit / state->n_splits % state->n_blocks;
    size_t column = state->out[1] * i / state->n_blocks;
    size_t end = state->out[1] * (i + 1) / state->n_blocks;
    size_t pixel = row * state->out[1] + column;
    bool is_f32 = attrs->to == INT8_TO_F32;
    struct block block = {
        .begin = n_groups * split / state->n_splits,
        .end = n_groups * (split + 1) / state->n_splits,
        .row = row,
        .column = column,
        .n = end - column,
        .segments = (const uint8_t **)(void *)scratch,
        .c = is_f32 ? (void *)(scratch + state->sums_at)
                    : (void *)((uint8_t *)job->out + pixel * attrs->c_out),
    };
    find_segments(job, &block);
    find_biases(&state->borders, (size_t)state->window.out[2], &block,
                (const float **)(void *)scratch + attrs->n_segments);
    if (state->is_gathered)
        gather(job, &block, scratch + state->rows_at);
    if (attrs->is_depthwise)
        convolve_channels(job, &block);
    else
        multiply(job, &block);
    if (is_f32)
        to_planes(job, &block, pixel);
}

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct job *job = context;
    const struct int8_state *state = job->state;
    unsigned char *scratch = job->scratch + state->image_bytes + part * state->part_bytes;
    size_t n = state->out[0] * state->n_blocks * state->n_splits;
    for (size_t i = n * part / n_parts; i < n * (part + 1) / n_parts; i++)
        run_block(job, i, scratch);
    if (state->tile_rows > 0)
        state->kernels->tiles_end();
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct int8_convolution_attrs *attrs = step->op->attrs;
    const struct int8_state *state = step->state;
    for (size_t i = 0; i < state->n_batches; i++) {
        struct job job = {
            .attrs = attrs,
            .state = state,
            .in = (const uint8_t *)step->in[0]->data + i * state->n_in * attrs->c_in,
            .out = tensor_at(step->out[0], i * state->n_out * attrs->c_out),
            .scratch = step->scratch,
        };
        job.image = state->is_padded ? (const uint8_t *)job.scratch : job.in;
        job.end =
            state->is_padded ? job.image + state->image_bytes : job.in + state->n_in * attrs->c_in;
        if (state->is_padded) {
            size_t n = state->height * state->width * attrs->c_in;
            memset(job.scratch + n, 0, state->image_bytes - n);
            thread_pool_run(step->pool, copy_rows, &job, state->n_parts);
        }
        thread_pool_run(step->pool, run_part, &job, state->n_parts);
    }
    return true;
}

static const struct op_input_def inputs[] = {{"data", .types = TYPE_BIT(IRRUN_U8)}, {.name = NULL}};

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    const struct int8_convolution_attrs *attrs = op->attrs;
    (void)in;
    return 2 * cost_n(out[0]) * (double)(attrs->kernel[0] * attrs->kernel[1]) *
           (attrs->is_depthwise ? 1 : (double)attrs->c_in);
}

const struct op_def op_int8_convolution = {
    .type = "Convolution",
    .inputs = inputs,
    .n_outputs = 1,
    .attrs_size = sizeof(struct int8_convolution_attrs),
    .state_size = sizeof(struct int8_state),
    .infer = infer,
    .prepare = prepare,
    .run = run,
    .flops = flops,
};
