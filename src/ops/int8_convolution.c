/* Int8 convolutions. The channels are last, so the taps of a kernel row are adjacent in the image,
 * and the kernels read them in place. An image that needs pads is first copied with its pads. If
 * the rows of pixels or of taps are too short for AMX tiles, the taps are copied to rows of a
 * matrix (im2col).
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/cost.h"
#include "ops/int8_convolution_internal.h"

#define READ_AHEAD 16     /* bytes after a padded image: the kernels load 16 bytes at a time */
#define BLOCK 48          /* pixels per block: a multiple of the rows of every tile */
#define SPLIT_GROUPS 8    /* groups of channels per unit of work, if there are few blocks */
#define MIN_IM2COL_OUT 48 /* with fewer output channels, the copies take longer than they save */

static bool is_enlarged(const struct int8_convolution_attrs *attrs)
{
    return attrs->enlarge[0] * attrs->enlarge[1] > 1;
}

static bool infer(struct infer *infer)
{
    const struct int8_convolution_attrs *attrs = infer->attrs;
    struct int8_state *state = infer->state;
    const struct irrun_shape *in = &infer->in[0]->shape;
    uint32_t n_spatial = attrs->n_spatial;
    if (in->dims[1 + n_spatial] != (int64_t)attrs->c_in)
        return infer_fail_input(infer, 0, "%zu channels to match the filters", attrs->c_in);
    struct window *window = &state->window;
    if (!(is_enlarged(attrs) ? infer_window_attrs : infer_window)(
            infer, &attrs->window, n_spatial, in->dims + 1, attrs->kernel + 2 - n_spatial, window))
        return false;
    if (is_enlarged(attrs)) /* no windows: each input pixel is computed alone */
        memcpy(window->out, window->in, sizeof window->out);
    int64_t n = in->dims[0], channels = (int64_t)(attrs->c_out / attrs->n_joined),
            *sizes = window->out + 3 - n_spatial;
    state->n_batches = (size_t)n;
    state->n_in = (size_t)window_product(window->in);
    state->n_out = (size_t)window_product(window->out);
    struct irrun_shape out = {.rank = 2 + n_spatial, .dims = {n}};
    bool is_u8 = attrs->to == INT8_TO_U8, is_last = is_u8 || attrs->is_last;
    out.dims[is_last ? 1 + n_spatial : 1] = channels;
    memcpy(out.dims + (is_last ? 1 : 2), sizes, n_spatial * sizeof *sizes);
    for (uint32_t d = 0; d < n_spatial && is_enlarged(attrs); d++) {
        size_t factor = attrs->enlarge[2 - n_spatial + d];
        out.dims[1 + d] *= (int64_t)factor;
        out.dims[1 + n_spatial] /= (int64_t)factor;
    }
    bool has_borders =
        attrs->border.sums && (int8_exceeds_image(window, 1) || int8_exceeds_image(window, 2));
    if (!is_enlarged(attrs) && !has_borders)
        window_make_row(window);
    return infer_output(infer, 0, is_u8 ? IRRUN_U8 : IRRUN_F32, &out);
}

/* Returns the number of pixels that n consecutive windows cover along dimension d. */
static int64_t covered_pixels(const struct window *window, int d, int64_t n)
{
    int64_t steps = n > 0 ? n - 1 : 0;
    return steps * window->stride[d] + (window->kernel[d] - 1) * window->dilation[d] + 1;
}

/* Decides whether the image is copied with its pads. It is copied even without pads if the last
 * quad of a segment extends past the end of the segment, or if has_words is set and there are
 * several taps. With one tap, int8_im2col widens the bytes to 16-bit words instead. */
static void choose_image(const struct int8_convolution_attrs *attrs, struct int8_state *state)
{
    const struct window *w = &state->window;
    state->is_im2col = attrs->has_words && window_product(w->kernel) == 1 && !attrs->offsets &&
                       !is_enlarged(attrs);
    state->is_padded = !attrs->is_depthwise && !state->is_im2col &&
                       (attrs->has_words || attrs->segment_bytes % INT8_QUAD != 0);
    state->pixel_bytes = attrs->c_in * (state->is_im2col ? 1 : int8_a_size(attrs));
    size_t n_columns = divide_up((size_t)w->out[2], attrs->n_joined);
    int64_t height = covered_pixels(w, 1, w->out[1]),
            width = covered_pixels(w, 2, (int64_t)(n_columns * attrs->n_joined));
    state->is_padded = state->is_padded || w->pad_begin[1] != 0 || w->pad_begin[2] != 0 ||
                       height > w->in[1] || width > w->in[2];
    state->height = (size_t)height;
    state->width = (size_t)(state->is_padded ? width : w->in[2]);
    bool is_flat = !state->is_padded && !is_enlarged(attrs) && window_product(w->kernel) == 1 &&
                   window_product(w->stride) == 1 && w->in[2] == w->out[2];
    state->n_rows = is_flat ? 1 : (size_t)w->out[1];
    state->n_columns = is_flat ? state->n_out : n_columns;
}

static size_t k_bytes(const struct int8_convolution_attrs *attrs)
{
    return attrs->n_segments * int8_n_quads(attrs->segment_bytes) * INT8_QUAD;
}

/* Chooses im2col, which copies taps to rows, if it saves a quarter of the tiles, or if tiles cannot
 * be used without it. */
static void choose_im2col(const struct int8_convolution_attrs *attrs, double work,
                          struct int8_state *state)
{
    size_t n = state->n_out;
    size_t tile_rows =
        int8_tile_rows(state->kernels, n < BLOCK ? n : BLOCK, k_bytes(attrs) / INT8_QUAD, work);
    size_t n_by_rows = state->n_rows * divide_up(state->n_columns, TILE_ROWS);
    bool is_short =
        state->n_quads < INT8_TILE_MIN_QUADS || 4 * divide_up(n, TILE_ROWS) <= 3 * n_by_rows;
    if (attrs->group_c_in == attrs->c_in && !is_enlarged(attrs) && attrs->c_out >= MIN_IM2COL_OUT &&
        is_short && tile_rows > 0)
        state->is_im2col = true;
    if (!state->is_im2col)
        return;
    state->n_quads = k_bytes(attrs) / INT8_QUAD;
    state->n_rows = 1;
    state->n_columns = n;
    if (divide_up(n, BLOCK) < SPLIT_GROUPS && !attrs->is_activated)
        state->n_splits = divide_up(int8_n_groups(attrs->c_out), SPLIT_GROUPS);
}

static void plan_product(const struct int8_convolution_attrs *attrs, double work,
                         struct int8_state *state)
{
    choose_image(attrs, state);
    state->n_splits = 1;
    state->n_quads = int8_n_quads(attrs->segment_bytes);
    choose_im2col(attrs, work, state);
    state->n_blocks = divide_up(state->n_columns, BLOCK);
    if (!attrs->is_depthwise && state->n_blocks > 0)
        state->tile_rows = int8_tile_rows(state->kernels, state->n_columns / state->n_blocks,
                                          state->n_quads, work);
}

/* Returns whether a block first stores its results in scratch memory. int8_store then writes the
 * output. */
static bool needs_sums(const struct int8_convolution_attrs *attrs)
{
    return attrs->n_joined > 1 || (int8_sums_to(attrs) == INT8_TO_F32 && !attrs->is_last);
}

static void size_parts(const struct int8_convolution_attrs *attrs, struct int8_state *state)
{
    state->sums_at = align_to_line((attrs->n_segments + BLOCK) * sizeof(void *));
    state->rows_at = state->sums_at +
                     (needs_sums(attrs) ? align_to_line(BLOCK * attrs->c_out * sizeof(float)) : 0);
    state->part_bytes =
        state->rows_at +
        (state->is_im2col ? align_to_line(BLOCK * k_bytes(attrs) * int8_a_size(attrs)) : 0);
}

static bool size_scratch(struct prepare *prepare, const struct int8_convolution_attrs *attrs,
                         struct int8_state *state)
{
    size_t parts_bytes, image_bytes = 0;
    if (!attrs->winograd)
        size_parts(attrs, state);
    if (state->is_padded && (!checked_mul(state->height, state->width, &image_bytes) ||
                             !checked_mul(image_bytes, state->pixel_bytes, &image_bytes) ||
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
    state->quantize = prepare->kernels->quantize;
    state->activation = prepare->kernels->elementwise_f32->unary[attrs->activation];
    if (!state->activation)
        state->activation = unary_scalar(attrs->activation, IRRUN_F32);
    double work =
        (double)state->n_out * (double)k * (double)attrs->c_out / (double)(4 * attrs->n_joined);
    if (attrs->winograd)
        int8_winograd_plan(attrs, state);
    else
        plan_product(attrs, work, state);
    state->n_parts = thread_pool_n_parts(prepare->pool, work,
                                         state->n_rows * state->n_blocks * state->n_splits + 1);
    return size_scratch(prepare, attrs, state) &&
           int8_borders_plan(prepare, &state->window, &attrs->border,
                             int8_n_groups(attrs->c_out) * INT8_GROUP, &state->borders);
}

/* Sets block->segments to the segments of the first pixel of the block. */
static void set_segments(const struct int8_job *job, struct int8_block *block)
{
    const struct window *w = &job->state->window;
    size_t c = job->state->pixel_bytes, row_bytes = job->state->width * c;
    size_t column = job->state->is_im2col ? 0 : block->column;
    const uint8_t *first = job->image + block->row * (size_t)w->stride[1] * row_bytes +
                           column * job->attrs->n_joined * (size_t)w->stride[2] * c;
    size_t n_columns = job->attrs->n_segments / (size_t)w->kernel[1];
    for (size_t i = 0; i < job->attrs->n_segments; i++)
        block->segments[i] = first + i / n_columns * (size_t)w->dilation[1] * row_bytes +
                             i % n_columns * (size_t)w->dilation[2] * c;
}

/* If biases depend on the pixel, fills `biases` with a pointer for each pixel of the block, and
 * sets block->biases to it. width: pixels per output row. */
static void set_biases(const struct int8_borders *borders, size_t width, struct int8_block *block,
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

/* Multiplies by the packed groups begin … end - 1 of the filters, all of which read the same input
 * channels. */
static void multiply_groups(const struct int8_job *job, const struct int8_block *block,
                            size_t begin, size_t end)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    bool is_im2col = job->state->is_im2col;
    job->state->kernels->multiply(&(struct int8_product){
        .m = block->n,
        .n = attrs->c_out,
        .n_segments = is_im2col ? 1 : attrs->n_segments,
        .n_quads = job->state->n_quads,
        .begin = begin,
        .end = end,
        .tile_rows = job->state->tile_rows,
        .a = block->segments,
        .lda = is_im2col ? k_bytes(attrs) * int8_a_size(attrs)
                         : attrs->n_joined * (size_t)job->state->window.stride[2] *
                               job->state->pixel_bytes,
        .b = attrs->filters,
        .has_words = attrs->has_words,
        .excess = attrs->excess,
        .start = attrs->start,
        .to = int8_sums_to(attrs),
        .requantization = attrs->requantization,
        .row_biases = block->biases,
        .c = block->c,
        .ldc = attrs->c_out / attrs->enlarge[0],
    });
}

/* Computes the enlarge[0] rows of output pixels that a block of input pixels produces. */
static void enlarge(const struct int8_job *job, const struct int8_block *block)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    size_t row_bytes = attrs->c_out / attrs->enlarge[0], n_groups = row_bytes / INT8_GROUP;
    size_t line = job->state->n_columns * row_bytes, first = block->row * attrs->enlarge[0];
    for (size_t y = 0; y < attrs->enlarge[0]; y++) {
        struct int8_block part = *block;
        part.c = (uint8_t *)job->out + (first + y) * line + block->column * row_bytes -
                 y * row_bytes; /* column 0 of the product */
        multiply_groups(job, &part, y * n_groups, (y + 1) * n_groups);
    }
}

static void multiply(const struct int8_job *job, const struct int8_block *block)
{
    const uint32_t *offsets = job->attrs->offsets;
    if (is_enlarged(job->attrs)) {
        enlarge(job, block);
        return;
    }
    if (!offsets) {
        multiply_groups(job, block, block->begin, block->end);
        return;
    }
    ptrdiff_t a_size = (ptrdiff_t)int8_a_size(job->attrs), at = 0;
    for (size_t group = block->begin; group < block->end; at = offsets[group++]) {
        for (size_t i = 0; i < job->attrs->n_segments; i++)
            block->segments[i] += ((ptrdiff_t)offsets[group] - at) * a_size;
        multiply_groups(job, block, group, group + 1);
    }
}

static void convolve_channels(const struct int8_job *job, const struct int8_block *block)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    const struct window *w = &job->state->window;
    job->state->kernels->depthwise(&(struct int8_depthwise){
        .n = block->n,
        .n_channels = attrs->c_out,
        .n_rows = attrs->n_segments / attrs->tap_columns,
        .n_columns = attrs->tap_columns,
        .taps = block->segments,
        .pixel_stride = (size_t)w->stride[2] * attrs->c_in,
        .column_stride = attrs->c_in,
        .end = job->end,
        .weights = attrs->weights,
        .start = attrs->start,
        .to = int8_sums_to(attrs),
        .requantization = attrs->requantization,
        .pixel_biases = block->biases,
        .c = block->c,
    });
}

/* Computes one unit of work: a block of pixels of a row, or some of its channels. Blocks have
 * nearly equal sizes. */
static void run_block(const struct int8_job *job, size_t unit, unsigned char *scratch)
{
    const struct int8_state *state = job->state;
    const struct int8_convolution_attrs *attrs = job->attrs;
    size_t split = unit % state->n_splits, n_groups = int8_n_groups(attrs->c_out);
    size_t row = unit / state->n_splits / state->n_blocks;
    size_t i = unit / state->n_splits % state->n_blocks;
    size_t column = state->n_columns * i / state->n_blocks;
    size_t end = state->n_columns * (i + 1) / state->n_blocks;
    size_t pixel = row * state->n_columns + column;
    size_t out_size = attrs->to == INT8_TO_F32 ? sizeof(float) : 1;
    struct int8_block block = {
        .begin = n_groups * split / state->n_splits,
        .end = n_groups * (split + 1) / state->n_splits,
        .row = row,
        .column = column,
        .n = end - column,
        .segments = (const uint8_t **)(void *)scratch,
        .c = needs_sums(attrs) ? scratch + state->sums_at
                               : (unsigned char *)job->out + pixel * attrs->c_out * out_size,
    };
    if (attrs->winograd) {
        int8_winograd_run(job, &block, scratch);
        return;
    }
    set_segments(job, &block);
    set_biases(&state->borders, (size_t)state->window.out[2], &block,
               (const float **)(void *)scratch + attrs->n_segments);
    if (state->is_im2col)
        int8_im2col(job, &block, scratch + state->rows_at);
    if (attrs->is_depthwise)
        convolve_channels(job, &block);
    else
        multiply(job, &block);
    if (needs_sums(attrs))
        int8_store(job, &block);
}

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct int8_job *job = context;
    const struct int8_state *state = job->state;
    unsigned char *scratch = job->scratch + state->image_bytes + part * state->part_bytes;
    size_t n = state->n_rows * state->n_blocks * state->n_splits;
    for (size_t i = n * part / n_parts; i < n * (part + 1) / n_parts; i++)
        run_block(job, i, scratch);
    if (state->tile_rows > 0)
        state->kernels->tiles_end();
}

static void run(const struct step *step)
{
    const struct int8_convolution_attrs *attrs = step->op->attrs;
    const struct int8_state *state = step->state;
    for (size_t i = 0; i < state->n_batches; i++) {
        struct int8_job job = {
            .attrs = attrs,
            .state = state,
            .in = (const uint8_t *)step->in[0]->data + i * state->n_in * attrs->c_in,
            .out = tensor_at(step->out[0], i * state->n_out * attrs->c_out / attrs->n_joined),
            .scratch = step->scratch,
        };
        job.image = state->is_padded ? (const uint8_t *)job.scratch : job.in;
        job.end =
            state->is_padded ? job.image + state->image_bytes : job.in + state->n_in * attrs->c_in;
        if (state->is_padded) {
            size_t n = state->height * state->width * state->pixel_bytes;
            memset(job.scratch + n, 0, state->image_bytes - n);
            thread_pool_run(step->pool, int8_copy_rows, &job, state->n_parts);
        }
        thread_pool_run(step->pool, run_part, &job, state->n_parts);
    }
}

static double flops(const struct op *op, struct irrun_tensor *const *in,
                    struct irrun_tensor *const *out)
{
    const struct int8_convolution_attrs *attrs = op->attrs;
    (void)in;
    return 2 * cost_n(out[0]) * (double)(attrs->kernel[0] * attrs->kernel[1]) *
           (double)attrs->group_c_in;
}

const struct op_def op_int8_convolution = {
    .type = "Convolution",
    OP_ONE_INPUT("data", TYPE_BIT(IRRUN_U8)),
    .attrs_size = sizeof(struct int8_convolution_attrs),
    .state_size = sizeof(struct int8_state),
    .infer = infer,
    .prepare = prepare,
    .compute = run,
    .flops = flops,
};
