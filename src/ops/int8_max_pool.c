/* MaxPool of u8 with the channels last.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/pool.h"
#include "ops/int8_ops.h"

struct max_state {
    struct window window;      /* dimension 0 is 1 */
    size_t n_rows, n_channels; /* of the output; rows of all batch elements */
};

static bool infer(struct infer *infer)
{
    const struct window_attrs *attrs = infer->attrs;
    struct max_state *state = infer->state;
    struct irrun_shape out = infer->in[0]->shape;
    struct window *w = &state->window;
    uint32_t n_spatial = attrs->kernel.n;
    if (!infer_window(infer, attrs, n_spatial, out.dims + 1, attrs->kernel.items, w))
        return false;
    memcpy(out.dims + 1, w->out + 3 - n_spatial, n_spatial * sizeof *out.dims);
    state->n_rows = (size_t)(out.dims[0] * w->out[1]);
    state->n_channels = (size_t)out.dims[1 + n_spatial];
    return infer_output(infer, 0, IRRUN_U8, &out);
}

/* Updates the maxima of a row of output pixels with one tap of an input row. */
static void add_tap(const struct max_state *state, const uint8_t *row, int64_t tap, uint8_t *to)
{
    const struct window *w = &state->window;
    size_t n = state->n_channels;
    int64_t first, end;
    window_positions(w, 2, tap, &first, &end);
    if (first >= end)
        return;
    int64_t from = first * w->stride[2] - w->pad_begin[2] + tap * w->dilation[2];
    max_bytes(row + (size_t)from * n, (size_t)w->stride[2] * n, to + (size_t)first * n, n,
              (size_t)(end - first));
}

static void run_rows(const struct step *step, size_t begin, size_t end_row)
{
    const struct max_state *state = step->state;
    const struct window *w = &state->window;
    size_t in_bytes = (size_t)w->in[2] * state->n_channels;
    size_t out_bytes = (size_t)w->out[2] * state->n_channels;
    for (size_t i = begin; i < end_row; i++) {
        int64_t y = (int64_t)i % w->out[1], first, end;
        const uint8_t *image = (const uint8_t *)step->in[0]->data +
                               i / (size_t)w->out[1] * (size_t)w->in[1] * in_bytes;
        uint8_t *to = (uint8_t *)step->out[0]->data + i * out_bytes;
        memset(to, 0, out_bytes);
        window_inside(w, 1, y, &first, &end);
        for (int64_t k = first; k < end; k++) {
            int64_t row = y * w->stride[1] - w->pad_begin[1] + k * w->dilation[1];
            for (int64_t tap = 0; tap < w->kernel[2]; tap++)
                add_tap(state, image + (size_t)row * in_bytes, tap, to);
        }
    }
}

static bool prepare(struct prepare *prepare)
{
    const struct max_state *state = prepare->state;
    const struct window *w = &state->window;
    double row = (double)(w->out[2] * window_product(w->kernel)) * (double)state->n_channels;
    return prepare_sharing(prepare, run_rows, state->n_rows, (double)state->n_rows * row / 16);
}

const struct op_def op_int8_max_pool = {
    .type = "MaxPool",
    OP_ONE_INPUT("data", TYPE_BIT(IRRUN_U8)),
    .attrs_size = sizeof(struct window_attrs),
    .state_size = sizeof(struct max_state),
    .infer = infer,
    .prepare = prepare,
};
