/* Int8 convolutions. Consecutive taps of an output pixel are adjacent in the image, and the kernels
 * read them in place. An image that needs pads is first copied with its pads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/cost.h"
#include "ops/int8_borders.h"
#include "ops/int8_ops.h"

#define READ_AHEAD 16 /* bytes after a padded image, since the kernels load 16 bytes at a time */
#define BLOCK 48      /* pixels: a multiple of the rows of every tile */

struct int8_state {
    struct window window; /* dimension 0 is 1 */
    const struct int8_kernels *kernels;
    struct int8_borders borders;
    size_t n_batches, n_in, n_out; /* pixels of a batch element */
    size_t out[2];                 /* rows and columns; 1 row if pixels are as in the input */
    bool is_padded;                /* the image is copied with its pads */
    size_t height, width;          /* of the padded image */
    size_t n_blocks;               /* in a row */
    size_t tile_rows;              /* of products, or 0 */
    size_t n_parts, part_bytes;    /* part_bytes: of scratch for each part, after the image */
    size_t image_bytes, sums_at;   /* sums_at: offset in a part of a block of f32 results */
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

/* Decides whether the image is copied. The last quad of a segment may extend past the end of the
 * input. */
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
    state->n_blocks = state->out[1] / BLOCK + (state->out[1] % BLOCK != 0);
}

static bool size_scratch(struct prepare *prepare, const struct int8_convolution_attrs *attrs,
                         struct int8_state *state)
{
    size_t parts_bytes, image_bytes = 0;
    state->sums_at = align_to_line((attrs->n_segments + BLOCK) * sizeof(void *));
    state->part_bytes =
        state->sums_at +
        (attrs->to == INT8_TO_F32 ? align_to_line(BLOCK * attrs->c_out * sizeof(float)) : 0);
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
    size_t n_taps = (size_t)window_product(state->window.kernel);
    size_t k = attrs->is_depthwise ? n_taps : n_taps * attrs->c_in;
    state->kernels = prepare->kernels->gemm_int8;
    find_image(attrs, state);
    double work = (double)state->n_out * (double)k * (double)attrs->c_out / 4;
    if (!attrs->is_depthwise && state->n_blocks > 0)
        state->tile_rows = int8_tile_rows(state->kernels, state->out[1] / state->n_blocks,
                                          int8_n_quads(attrs->segment_bytes), work);
    state->n_parts = thread_pool_n_parts(prepare->pool, work, state->out[0] * state->n_blocks + 1);
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
    size_t c = job->attrs->c_in, width = job->state->width;
    uint8_t *to = (uint8_t *)job->scratch + y * width * c;
    int64_t row = (int64_t)y - w->pad_begin[1], left = w->pad_begin[2];
    int64_t first = left > 0 ? left : 0, end = w->in[2] + left;
    if (end > (int64_t)width)
        end = (int64_t)width;
    if (row < 0 || row >= w->in[1] || first >= end) {
        memset(to, job->attrs->zero, width * c);
        return;
    }
    memset(to, job->attrs->zero, (size_t)first * c);
    memcpy(to + (size_t)first * c, job->in + (size_t)(row * w->in[2] + first - left) * c,
           (size_t)(end - first) * c);
    memset(to + (size_t)end * c, job->attrs->zero, (width - (size_t)end) * c);
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
    const uint8_t **segments;   /* of the first pixel */
    const float *const *biases; /* NULL: all pixels have the same */
    void *c;
};

static void find_segments(const struct job *job, struct block *block)
{
    const struct window *w = &job->state->window;
    size_t c = job->attrs->c_in, row_bytes = job->state->width * c;
    const uint8_t *first = job->image + block->row * (size_t)w->stride[1] * row_bytes +
                           block->column * (size_t)w->stride[2] * c;
    size_t n_columns = job->attrs->n_segments / (size_t)w->kernel[1];
    for (size_t i = 0; i < job->attrs->n_segments; i++)
        block->segments[i] = first + i / n_columns * (size_t)w->dilation[1] * row_bytes +
                             i % n_columns * (size_t)w->dilation[2] * c;
}

static void find_biases(const struct int8_borders *borders, struct block *block,
                        const float **biases)
{
    if (!borders->biases)
        return;
    for (size_t i = 0; i < block->n; i++)
        biases[i] = int8_borders_bias(borders, block->row, block->column + i);
    block->biases = biases;
}

static void multiply(const struct job *job, const struct block *block)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    job->state->kernels->multiply(&(struct int8_product){
        .m = block->n,
        .n = attrs->c_out,
        .n_segments = attrs->n_segments,
        .n_quads = int8_n_quads(attrs->segment_bytes),
        .end = int8_n_groups(attrs->c_out),
        .tile_rows = job->state->tile_rows,
        .a = block->segments,
        .lda = (size_t)job->state->window.stride[2] * attrs->c_in,
        .b = attrs->filters,
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

/* Transposes n pixels, channels last, to planes. */
static void to_planes(const struct job *job, size_t pixel, size_t n, const float *from)
{
    size_t channels = job->attrs->c_out;
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < n; i++)
            ((float *)job->out)[c * job->state->n_out + pixel + i] = from[i * channels + c];
}

/* Computes block i of a row. The blocks of a row have nearly equal size. */
static void run_block(const struct job *job, size_t row, size_t i, unsigned char *scratch)
{
    const struct int8_state *state = job->state;
    const struct int8_convolution_attrs *attrs = job->attrs;
    size_t column = state->out[1] * i / state->n_blocks;
    size_t end = state->out[1] * (i + 1) / state->n_blocks;
    size_t pixel = row * state->out[1] + column;
    bool is_f32 = attrs->to == INT8_TO_F32;
    struct block block = {
        .row = row,
        .column = column,
        .n = end - column,
        .segments = (const uint8_t **)(void *)scratch,
        .c = is_f32 ? (void *)(scratch + state->sums_at)
                    : (void *)((uint8_t *)job->out + pixel * attrs->c_out),
    };
    find_segments(job, &block);
    find_biases(&state->borders, &block, (const float **)(void *)scratch + attrs->n_segments);
    if (attrs->is_depthwise)
        convolve_channels(job, &block);
    else
        multiply(job, &block);
    if (is_f32)
        to_planes(job, pixel, block.n, block.c);
}

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct job *job = context;
    const struct int8_state *state = job->state;
    unsigned char *scratch = job->scratch + state->image_bytes + part * state->part_bytes;
    size_t n = state->out[0] * state->n_blocks;
    for (size_t i = n * part / n_parts; i < n * (part + 1) / n_parts; i++)
        run_block(job, i / state->n_blocks, i % state->n_blocks, scratch);
    if (state->tile_rows > 0)
        state->kernels->tiles_end();
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct int8_convolution_attrs *attrs = step->op->attrs;
    const struct int8_state *state = step->state;
    size_t size = dtype_size(step->out[0]->dtype);
    for (size_t i = 0; i < state->n_batches; i++) {
        struct job job = {
            .attrs = attrs,
            .state = state,
            .in = (const uint8_t *)step->in[0]->data + i * state->n_in * attrs->c_in,
            .out = (char *)step->out[0]->data + i * state->n_out * attrs->c_out * size,
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
    size_t c_in = attrs->is_depthwise ? 1 : attrs->c_in;
    (void)in;
    return 2 * cost_n(out[0]) * (double)c_in * (double)(attrs->kernel[0] * attrs->kernel[1]);
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
