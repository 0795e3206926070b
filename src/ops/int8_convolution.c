/* Convolutions of bytes. Some output pixels at a time: their patches are copied together, unless
 * they lie so already, and multiplied by the filters; of a depthwise one the pixels are pointed to.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/checked.h"
#include "ops/int8_ops.h"
#include "ops/product_batch.h"

#define ROOM 16  /* behind a pixel of zeros, which is read as the image is */
#define BLOCK 48 /* pixels: a multiple of the rows of every tile */

struct int8_state {
    struct window window; /* dimension 0 is 1 */
    const struct int8_kernels *kernels;
    size_t n_batches, n_in, n_out; /* pixels of a batch element */
    size_t row_bytes;              /* of a patch */
    bool is_direct;                /* the input is the patches */
    size_t n_parts, part_bytes;    /* of scratch */
    size_t sums_at;                /* … where a block of the result lies, if it is of f32 */
};

static bool infer(struct infer *infer)
{
    const struct int8_convolution_attrs *attrs = infer->attrs;
    struct int8_state *state = infer->state;
    const struct irrun_shape *in = &infer->in[0]->shape;
    if (in->dims[3] != (int64_t)attrs->c_in)
        return infer_fail_input(infer, 0, "%zu channels, as the filters have", attrs->c_in);
    struct window *window = &state->window;
    if (!infer_window(infer, &attrs->window, 2, in->dims + 1, attrs->kernel, window))
        return false;
    int64_t n = in->dims[0], channels = (int64_t)attrs->c_out, *sizes = window->out + 1;
    state->n_batches = (size_t)n;
    state->n_in = (size_t)window_product(window->in);
    state->n_out = (size_t)window_product(window->out);
    struct irrun_shape pixels = shape_of(4, (const int64_t[]){n, sizes[0], sizes[1], channels});
    struct irrun_shape planes = shape_of(4, (const int64_t[]){n, channels, sizes[0], sizes[1]});
    return attrs->to == INT8_TO_U8 ? infer_output(infer, 0, IRRUN_U8, &pixels)
                                   : infer_output(infer, 0, IRRUN_F32, &planes);
}

static bool is_direct(const struct int8_convolution_attrs *attrs, const struct window *window)
{
    return !attrs->is_depthwise && attrs->c_in % INT8_QUAD == 0 &&
           window_product(window->kernel) == 1 && window_product(window->stride) == 1 &&
           window->in[1] == window->out[1] && window->in[2] == window->out[2] &&
           window->pad_begin[1] == 0 && window->pad_begin[2] == 0;
}

static size_t whole_lines(size_t size_bytes)
{
    return (size_bytes + 63) / 64 * 64;
}

static bool prepare(struct prepare *prepare)
{
    const struct int8_convolution_attrs *attrs = prepare->attrs;
    struct int8_state *state = prepare->state;
    size_t n_taps = (size_t)window_product(state->window.kernel);
    size_t k = attrs->is_depthwise ? n_taps : n_taps * attrs->c_in;
    state->kernels = prepare->kernels->gemm_int8;
    state->is_direct = is_direct(attrs, &state->window);
    state->row_bytes = int8_n_quads(k) * INT8_QUAD;
    size_t block_bytes = attrs->is_depthwise ? BLOCK * n_taps * sizeof(void *) + attrs->c_in + ROOM
                                             : BLOCK * state->row_bytes;
    state->sums_at = whole_lines(block_bytes);
    state->part_bytes =
        state->sums_at +
        (attrs->to == INT8_TO_F32 ? whole_lines(BLOCK * attrs->c_out * sizeof(float)) : 0);
    double work = (double)state->n_out * (double)k * (double)attrs->c_out / 4;
    state->n_parts = product_n_parts(prepare, work, state->n_out / BLOCK + 1);
    return checked_mul(state->n_parts, state->part_bytes, &prepare->made.scratch_bytes) ||
           fail_memory(prepare->err, SIZE_MAX);
}

/* A batch element. */
struct job {
    const struct int8_convolution_attrs *attrs;
    const struct int8_state *state;
    const uint8_t *in;
    void *out;
    unsigned char *scratch;
};

/* An output pixel, and the input pixel that its first tap looks at. */
struct position {
    int64_t out[2], in[2];
};

static void look_at(const struct window *w, struct position *position)
{
    for (int d = 0; d < 2; d++)
        position->in[d] = position->out[d] * w->stride[1 + d] - w->pad_begin[1 + d];
}

static struct position find_position(const struct window *w, size_t pixel)
{
    struct position position = {.out = {(int64_t)pixel / w->out[2], (int64_t)pixel % w->out[2]}};
    look_at(w, &position);
    return position;
}

static void go_on(const struct window *w, struct position *position)
{
    if (++position->out[1] == w->out[2]) {
        position->out[1] = 0;
        position->out[0]++;
    }
    look_at(w, position);
}

/* Whether all taps of a pixel lie inside the image. */
static bool is_inside(const struct window *w, const struct position *position)
{
    for (int d = 0; d < 2; d++)
        if (position->in[d] < 0 ||
            position->in[d] + (w->kernel[1 + d] - 1) * w->dilation[1 + d] >= w->in[1 + d])
            return false;
    return true;
}

/* Where the input pixel lies that a tap looks at; NULL beyond the borders. */
static const uint8_t *find_tap(const struct job *job, const struct position *position, int64_t y,
                               int64_t x)
{
    const struct window *w = &job->state->window;
    int64_t row = position->in[0] + y * w->dilation[1],
            column = position->in[1] + x * w->dilation[2];
    bool is_there = row >= 0 && row < w->in[1] && column >= 0 && column < w->in[2];
    return is_there ? job->in + (size_t)(row * w->in[2] + column) * job->attrs->c_in : NULL;
}

static void copy_patch(const struct job *job, const struct position *position, uint8_t *to)
{
    const struct window *w = &job->state->window;
    size_t c = job->attrs->c_in, run_bytes = (size_t)w->kernel[2] * c;
    const uint8_t *end = to + job->state->row_bytes;
    bool has_runs = w->dilation[2] == 1 && is_inside(w, position);
    for (int64_t y = 0; y < w->kernel[1]; y++) {
        if (has_runs) {
            memcpy(to, find_tap(job, position, y, 0), run_bytes);
            to += run_bytes;
            continue;
        }
        for (int64_t x = 0; x < w->kernel[2]; x++, to += c) {
            const uint8_t *from = find_tap(job, position, y, x);
            if (from)
                memcpy(to, from, c);
            else
                memset(to, job->attrs->zero, c);
        }
    }
    memset(to, 0, (size_t)(end - to));
}

static void multiply_block(const struct job *job, size_t pixel, size_t n, uint8_t *patches, void *c)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    const uint8_t *a = patches;
    if (job->state->is_direct)
        a = job->in + pixel * attrs->c_in;
    struct position position = find_position(&job->state->window, pixel);
    for (size_t i = 0; i < n && !job->state->is_direct; i++) {
        copy_patch(job, &position, patches + i * job->state->row_bytes);
        go_on(&job->state->window, &position);
    }
    job->state->kernels->multiply(&(struct int8_product){
        .m = n,
        .n = attrs->c_out,
        .n_quads = job->state->row_bytes / INT8_QUAD,
        .end = int8_n_groups(attrs->c_out),
        .a = a,
        .lda = job->state->row_bytes,
        .b = attrs->filters,
        .start = attrs->start,
        .to = attrs->to,
        .requantization = attrs->requantization,
        .c = c,
        .ldc = attrs->c_out,
    });
}

/* The pixels that the taps of some output pixels look at. */
static void list_taps(const struct job *job, size_t pixel, size_t n, const uint8_t *zeros,
                      const uint8_t **pixels)
{
    const struct window *w = &job->state->window;
    size_t c = job->attrs->c_in;
    struct position position = find_position(w, pixel);
    for (size_t i = 0; i < n; i++, go_on(w, &position)) {
        bool is_simple = is_inside(w, &position);
        for (int64_t y = 0; y < w->kernel[1]; y++) {
            const uint8_t *from = is_simple ? find_tap(job, &position, y, 0) : NULL;
            for (int64_t x = 0; x < w->kernel[2]; x++) {
                const uint8_t *tap =
                    from ? from + (size_t)(x * w->dilation[2]) * c : find_tap(job, &position, y, x);
                *pixels++ = tap ? tap : zeros;
            }
        }
    }
}

/* Behind the pointers lies a pixel of zeros. */
static void convolve_block(const struct job *job, size_t pixel, size_t n, const uint8_t **pixels,
                           void *c)
{
    const struct int8_convolution_attrs *attrs = job->attrs;
    size_t n_taps = (size_t)window_product(job->state->window.kernel);
    uint8_t *zeros = (uint8_t *)(pixels + BLOCK * n_taps);
    memset(zeros, attrs->zero, attrs->c_in + ROOM);
    list_taps(job, pixel, n, zeros, pixels);
    job->state->kernels->depthwise(&(struct int8_depthwise){
        .n = n,
        .n_taps = n_taps,
        .n_channels = attrs->c_out,
        .pixels = pixels,
        .end = job->in + job->state->n_in * attrs->c_in,
        .weights = attrs->weights,
        .start = attrs->start,
        .to = attrs->to,
        .requantization = attrs->requantization,
        .c = c,
    });
}

/* Pixels of all channels to planes of a channel each. */
static void spread(const struct job *job, size_t pixel, size_t n, const float *from)
{
    size_t channels = job->attrs->c_out;
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < n; i++)
            ((float *)job->out)[c * job->state->n_out + pixel + i] = from[i * channels + c];
}

static void run_part(void *context, size_t part, size_t n_parts)
{
    const struct job *job = context;
    const struct int8_state *state = job->state;
    unsigned char *scratch = job->scratch + part * state->part_bytes;
    bool is_spread = job->attrs->to == INT8_TO_F32;
    size_t n_blocks = state->n_out / BLOCK + (state->n_out % BLOCK != 0);
    for (size_t i = n_blocks * part / n_parts; i < n_blocks * (part + 1) / n_parts; i++) {
        size_t pixel = i * BLOCK, left = state->n_out - pixel, n = left < BLOCK ? left : BLOCK;
        void *c = is_spread ? (void *)(scratch + state->sums_at)
                            : (uint8_t *)job->out + pixel * job->attrs->c_out;
        if (job->attrs->is_depthwise)
            convolve_block(job, pixel, n, (void *)scratch, c);
        else
            multiply_block(job, pixel, n, scratch, c);
        if (is_spread)
            spread(job, pixel, n, c);
    }
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
        thread_pool_run(step->pool, run_part, &job, state->n_parts);
    }
    return true;
}

static const struct op_input_def inputs[] = {
    {"data", .types = TYPE_BIT(IRRUN_U8)},
    {.name = NULL},
};

const struct op_def op_int8_convolution = {
    .type = "Convolution",
    .inputs = inputs,
    .n_outputs = 1,
    .attrs_size = sizeof(struct int8_convolution_attrs),
    .state_size = sizeof(struct int8_state),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};
