/* Col2Im-15: adds patches, one per column, into an image at their positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "kernels/col2im.h"
#include "ops/window.h"

enum { DATA, OUTPUT_SIZE, KERNEL_SIZE };

struct col2im_attrs {
    struct window_attrs window;
};

struct col2im_state {
    struct window window; /* over the output; one position per column */
    int64_t n_channels;   /* in all batch elements */
};

static const struct attr_def attr_table[] = {
    ATTR_NAMED(struct col2im_attrs, window.strides, "strides", ""),
    ATTR_NAMED(struct col2im_attrs, window.dilations, "dilations", ""),
    ATTR_NAMED(struct col2im_attrs, window.pads_begin, "pads_begin", ""),
    ATTR_NAMED(struct col2im_attrs, window.pads_end, "pads_end", ""),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER},
    {"output_size", .types = TYPES_INTEGER},
    {"kernel_size", .types = TYPES_INTEGER},
};

/* Reads a height and a width. */
static bool read_size(struct infer *infer, uint32_t i, struct i64_list *size)
{
    if (!infer_ints(infer, i, size))
        return false;
    if (size->n != 2)
        return infer_fail_input(infer, i, "two numbers, a height and a width");
    for (uint32_t k = 0; k < 2; k++)
        if (size->items[k] < 1)
            return infer_fail(infer, "%s[%u] is %lld, expected at least 1",
                              infer->op->def->inputs[i].name, k, (long long)size->items[k]);
    return true;
}

static bool read_window(struct infer *infer, struct window *window)
{
    const struct window_attrs *attrs = &((const struct col2im_attrs *)infer->attrs)->window;
    struct i64_list size = {0}, kernel = {0};
    int64_t unused[3];
    return read_size(infer, OUTPUT_SIZE, &size) && read_size(infer, KERNEL_SIZE, &kernel) &&
           infer_window_list(infer, "pads_begin", &attrs->pads_begin, 2, 0, 0, unused) &&
           infer_window_list(infer, "pads_end", &attrs->pads_end, 2, 0, 0, unused) &&
           infer_window(infer, attrs, 2, size.items, kernel.items, window);
}

static bool infer(struct infer *infer)
{
    struct col2im_state *state = infer->state;
    const struct window *w = &state->window;
    const struct irrun_shape *data = &infer->in[DATA]->shape;
    if (data->rank != 2 && data->rank != 3)
        return infer_fail_input(infer, DATA, "2 or 3 dimensions: an optional batch, rows, columns");
    if (!read_window(infer, &state->window))
        return false;
    int64_t n_rows = data->dims[data->rank - 2], n_columns = data->dims[data->rank - 1];
    int64_t n_kernel, n_positions;
    if (!checked_mul_i64(w->kernel[1], w->kernel[2], &n_kernel) || n_rows % n_kernel != 0)
        return infer_fail_input(
            infer, DATA, "a number of rows divisible by the %lld x %lld elements of the kernel",
            (long long)w->kernel[1], (long long)w->kernel[2]);
    if (!checked_mul_i64(w->out[1], w->out[2], &n_positions) || n_columns != n_positions)
        return infer_fail_input(infer, DATA, "%lld x %lld columns, the positions of the kernel",
                                (long long)w->out[1], (long long)w->out[2]);
    struct irrun_shape out = {.rank = data->rank + 1, .dims = {data->dims[0]}};
    out.dims[out.rank - 3] = n_rows / n_kernel;
    out.dims[out.rank - 2] = w->in[1];
    out.dims[out.rank - 1] = w->in[2];
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, &out))
        return false;
    state->n_channels = shape_product(&out, 0, out.rank - 2);
    return true;
}

static void run(const struct step *step)
{
    const struct col2im_state *state = step->state;
    const struct window *w = &state->window;
    col2im_fn *add = col2im_scalar(step->in[DATA]->dtype);
    size_t n_in = (size_t)(window_product(w->kernel) * window_product(w->out));
    size_t n_out = (size_t)window_product(w->in);
    for (size_t i = 0; i < (size_t)state->n_channels; i++)
        add(w, tensor_at(step->in[DATA], i * n_in), tensor_at(step->out[0], i * n_out));
}

const struct op_def op_col2im = {
    .type = "Col2Im",
    .opset = 15,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct col2im_attrs),
    .state_size = sizeof(struct col2im_state),
    .infer = infer,
    .compute = run,
};
