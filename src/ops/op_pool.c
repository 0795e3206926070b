/* MaxPool-1, -8, -14 and AvgPool-1, -14, -16 over one to three spatial dimensions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/indirect_convolution.h"
#include "kernels/pool.h"
#include "ops/depthwise_op.h"
#include "ops/indexing.h"
#include "ops/window.h"

struct pool_state {
    struct window window; /* over one channel */
    int64_t n_batches;    /* batch elements if the channels are last; otherwise 1 */
    int64_t n_channels;   /* per batch element if the channels are last; otherwise in all of them */
    int64_t n_indexed;    /* indices are taken modulo this */
    max_pool_fn *max;     /* NULL: avg */
    avg_pool_fn *avg;
    bool has_indices;
    bool is_depthwise; /* run by the depthwise kernels; otherwise by max or avg */
    struct depthwise depthwise;
    struct pooling pooling;
};

#define POOL_ATTRS                                                                                 \
    WINDOW_ATTRS(struct pool_attrs), ATTR_NAMED(struct pool_attrs, window.kernel, "kernel", NULL), \
        ATTR_CHOICE_NAMED(struct pool_attrs, window.rounding_type, "rounding_type", "floor",       \
                          "floor|ceil|ceil_torch")
#define DILATIONS ATTR_NAMED(struct pool_attrs, window.dilations, "dilations", "")

static const struct attr_def max_v1_attrs[] = {POOL_ATTRS};
static const struct attr_def max_v8_attrs[] = {
    POOL_ATTRS,
    DILATIONS,
    ATTR(struct pool_attrs, axis, "0"),
    ATTR(struct pool_attrs, index_element_type, "i64"),
};
static const struct attr_def avg_v1_attrs[] = {
    POOL_ATTRS,
    ATTR_NAMED(struct pool_attrs, exclude_pad, "exclude-pad", NULL),
};
static const struct attr_def avg_v16_attrs[] = {
    POOL_ATTRS,
    DILATIONS,
    ATTR_NAMED(struct pool_attrs, exclude_pad, "exclude-pad", NULL),
};

/* Checks that no window is entirely in the padding and no pad is negative. */
static bool check_pads(struct infer *infer, const struct window *window, uint32_t rank)
{
    for (uint32_t d = 3 - rank; d < 3; d++) {
        int64_t extent = (window->kernel[d] - 1) * window->dilation[d] + 1;
        if (window->pad_begin[d] < 0 || window->pad_end[d] < 0 || window->pad_begin[d] >= extent ||
            window->pad_end[d] >= extent)
            return infer_fail(infer,
                              "pads of %lld and %lld in dimension %u, expected 0 ... %lld, less "
                              "than the window",
                              (long long)window->pad_begin[d], (long long)window->pad_end[d],
                              rank + d - 1, (long long)(extent - 1));
    }
    return true;
}

static bool infer_pool(struct infer *infer)
{
    const struct pool_attrs *attrs = infer->attrs;
    struct pool_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[0]->shape;
    if (data->rank < 3 || data->rank > 5)
        return infer_fail_input(infer, 0,
                                "3 to 5 dimensions: batch, channels, 1 to 3 spatial ones");
    uint32_t rank = data->rank - 2;
    if (attrs->window.kernel.n != rank)
        return infer_fail(infer, "kernel has %u numbers, expected %u", attrs->window.kernel.n,
                          rank);
    uint32_t first = attrs->channels_last ? 1 : 2; /* spatial dimension */
    if (!infer_window(infer, &attrs->window, rank, data->dims + first, attrs->window.kernel.items,
                      &state->window) ||
        !check_pads(infer, &state->window, rank))
        return false;
    state->n_batches = attrs->channels_last ? data->dims[0] : 1;
    state->n_channels = attrs->channels_last ? data->dims[rank + 1] : shape_product(data, 0, 2);
    struct irrun_shape out = *data;
    for (uint32_t i = 0; i < rank; i++)
        out.dims[first + i] = state->window.out[3 - rank + i];
    window_align(&state->window);
    return infer_output(infer, 0, infer->in[0]->dtype, &out);
}

static bool infer_max_v8(struct infer *infer)
{
    const struct pool_attrs *attrs = infer->attrs;
    struct pool_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[0]->shape;
    uint32_t axis = 0;
    if (!infer_pool(infer) || !infer_axis(infer, attrs->axis, data->rank, &axis))
        return false;
    state->n_indexed = shape_product(data, axis, data->rank);
    return infer_index_type(infer, "index_element_type", attrs->index_element_type) &&
           (infer->n_outputs < 2 ||
            infer_output(infer, 1, attrs->index_element_type, &infer->out[0].shape));
}

/* Requests scratch memory for run_strided_plane: one plane (the elements of one channel) of the
 * input and one plane of the output. */
static bool reserve_planes(struct prepare *prepare)
{
    const struct window *w = &((const struct pool_state *)prepare->state)->window;
    size_t n = (size_t)(window_product(w->in) + window_product(w->out));
    return prepare_scratch(prepare, n, dtype_size(prepare->in[0]->dtype));
}

/* Lets the preceding convolution compute a MaxPool, if the windows do not overlap and need no
 * pads. */
static void offer_pooling(struct prepare *prepare)
{
    struct pool_state *state = prepare->state;
    const struct window *w = &state->window;
    bool is_simple = state->max && state->depthwise.channels_last && state->is_depthwise &&
                     w->in[0] == 1 && w->kernel[0] == 1;
    for (int d = 0; d < 3; d++)
        is_simple &= w->stride[d] == w->kernel[d] && w->dilation[d] == 1 && w->pad_begin[d] == 0 &&
                     w->out[d] <= w->in[d] / w->kernel[d];
    if (!is_simple)
        return;
    state->pooling =
        (struct pooling){.kernel = {(size_t)w->kernel[1], (size_t)w->kernel[2]},
                         .n = {(size_t)w->out[1], (size_t)w->out[2]},
                         .maxima = prepare->kernels->depthwise_f32->pixels[DEPTHWISE_MAXIMA]};
    prepare->made.pooling = &state->pooling;
}

static bool prepare(struct prepare *prepare)
{
    struct pool_state *state = prepare->state;
    const struct pool_attrs *attrs = prepare->attrs;
    if (op_is_type(prepare->op, "MaxPool"))
        state->max = max_pool_scalar(prepare->in[0]->dtype);
    state->avg = avg_pool_scalar(prepare->in[0]->dtype);
    state->has_indices = prepare->n_outputs > 1;
    if (state->has_indices)
        prepare->made.scratch_bytes = (size_t)window_product(state->window.out) * sizeof(int64_t);
    bool may_be_depthwise = !state->has_indices && prepare->in[0]->dtype == IRRUN_F32;
    state->depthwise = (struct depthwise){.window = state->window,
                                          .kernels = prepare->kernels->depthwise_f32,
                                          .term = state->max ? DEPTHWISE_MAXIMA : DEPTHWISE_SUMS,
                                          .exclude_pad = attrs->exclude_pad,
                                          .n_batches = state->n_batches,
                                          .n_channels = state->n_channels,
                                          .multiplier = 1,
                                          .channels_last = attrs->channels_last};
    if (may_be_depthwise && !depthwise_prepare(prepare, &state->depthwise, &state->is_depthwise))
        return false;
    offer_pooling(prepare);
    return state->is_depthwise || !attrs->channels_last || reserve_planes(prepare);
}

/* Converts indices within a channel to indices relative to dimension `axis`. */
static void write_indices(const struct pool_state *state, int64_t channel, int64_t *indices,
                          struct irrun_tensor *out)
{
    int64_t n_in = window_product(state->window.in), n_out = window_product(state->window.out);
    for (int64_t i = 0; i < n_out; i++)
        indices[i] = (channel * n_in + indices[i]) % state->n_indexed;
    convert_elements(IRRUN_I64, indices, out->dtype, tensor_at(out, (size_t)(channel * n_out)),
                     (size_t)n_out);
}

/* Pools channel i, counted over all batch elements. */
static void run_plane(const struct step *step, int64_t i, const void *in, void *out)
{
    const struct pool_state *state = step->state;
    int64_t *indices = state->has_indices ? step->scratch : NULL;
    if (state->max)
        state->max(&state->window, in, out, indices);
    else
        state->avg(&state->window, ((const struct pool_attrs *)step->op->attrs)->exclude_pad, in,
                   out);
    if (indices)
        write_indices(state, i, indices, step->out[1]);
}

/* Pools a channel whose elements are not adjacent: copies them to a plane, pools the plane, and
 * copies the result to the output. */
static void run_strided_plane(const struct step *step, int64_t i)
{
    const struct pool_state *state = step->state;
    int64_t n_in = window_product(state->window.in), n_out = window_product(state->window.out);
    int64_t n = state->n_channels, batch = i / n;
    size_t size = dtype_size(step->in[0]->dtype), pixel_bytes = (size_t)n * size;
    const char *from = tensor_at(step->in[0], (size_t)(batch * n_in * n + i % n));
    char *to = tensor_at(step->out[0], (size_t)(batch * n_out * n + i % n));
    char *in = step->scratch, *out = in + (size_t)n_in * size;
    for (size_t at = 0; at < (size_t)n_in; at++)
        memcpy(in + at * size, from + at * pixel_bytes, size);
    run_plane(step, i, in, out);
    for (size_t at = 0; at < (size_t)n_out; at++)
        memcpy(to + at * pixel_bytes, out + at * size, size);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct pool_state *state = step->state;
    bool channels_last = ((const struct pool_attrs *)step->op->attrs)->channels_last;
    int64_t n_in = window_product(state->window.in), n_out = window_product(state->window.out);
    if (state->is_depthwise)
        depthwise_run(&state->depthwise, &(struct depthwise_job){.in = step->in[0]->data,
                                                                 .out = step->out[0]->data,
                                                                 .scratch = step->scratch,
                                                                 .pool = step->pool});
    int64_t n_planes = state->is_depthwise || n_out == 0 ? 0 : state->n_batches * state->n_channels;
    for (int64_t i = 0; i < n_planes; i++) {
        if (channels_last)
            run_strided_plane(step, i);
        else
            run_plane(step, i, tensor_at(step->in[0], (size_t)(i * n_in)),
                      tensor_at(step->out[0], (size_t)(i * n_out)));
    }
    return true;
}

#define POOL_OP(object, type_, opset_, opset_last_, types_, attrs_, infer_, ...)                   \
    const struct op_def object = {.type = type_,                                                   \
                                  .opset = opset_,                                                 \
                                  .opset_last = opset_last_,                                       \
                                  OP_ONE_INPUT("data", types_),                                    \
                                  OP_ATTRS(attrs_, struct pool_attrs),                             \
                                  .state_size = sizeof(struct pool_state),                         \
                                  .infer = infer_,                                                 \
                                  .prepare = prepare,                                              \
                                  .run = run,                                                      \
                                  __VA_ARGS__}
#define WITH_INDICES .n_outputs = 2, .n_outputs_min = 1

POOL_OP(op_max_pool_v1, "MaxPool", 1, 7, TYPES_NUMBER, max_v1_attrs, infer_pool, );
POOL_OP(op_max_pool_v8, "MaxPool", 8, 13, TYPES_NUMBER, max_v8_attrs, infer_max_v8, WITH_INDICES);
POOL_OP(op_max_pool_v14, "MaxPool", 14, 0, TYPES_NUMBER, max_v8_attrs, infer_max_v8, WITH_INDICES);
POOL_OP(op_avg_pool_v1, "AvgPool", 1, 13, TYPES_FLOAT, avg_v1_attrs, infer_pool, );
POOL_OP(op_avg_pool_v14, "AvgPool", 14, 15, TYPES_FLOAT, avg_v1_attrs, infer_pool, );
POOL_OP(op_avg_pool_v16, "AvgPool", 16, 0, TYPES_FLOAT, avg_v16_attrs, infer_pool, );
