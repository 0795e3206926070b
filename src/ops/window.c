/* Computes the pads and output sizes of sliding windows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/window.h"

/* Larger numbers are rejected, so that sums cannot overflow. */
#define LIMIT (INT64_C(1) << 40)

bool infer_window_list(struct infer *infer, const char *name, const struct i64_list *list,
                       uint32_t rank, int64_t lowest, int64_t neutral, int64_t out[3])
{
    if (list->n != rank && list->n != 0)
        return infer_fail(infer, "%s has %u numbers, expected %u", name, list->n, rank);
    for (uint32_t i = 0; i < 3; i++)
        out[i] = neutral;
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t number = list->items[i];
        if (number < lowest || number > LIMIT)
            return infer_fail(infer, "%s has %lld, expected %lld ... 2^40", name, (long long)number,
                              (long long)lowest);
        out[3 - rank + i] = number;
    }
    return true;
}

static bool size_dim(struct infer *infer, const struct window_attrs *attrs, struct window *w, int d,
                     uint32_t rank)
{
    int64_t extent = (w->kernel[d] - 1) * w->dilation[d] + 1, stride = w->stride[d];
    int64_t in = w->in[d];
    if (attrs->auto_pad == AUTO_PAD_SAME_UPPER || attrs->auto_pad == AUTO_PAD_SAME_LOWER) {
        int64_t pad = ((in + stride - 1) / stride - 1) * stride + extent - in;
        pad = pad < 0 || in == 0 ? 0 : pad;
        w->pad_begin[d] = attrs->auto_pad == AUTO_PAD_SAME_UPPER ? pad / 2 : pad - pad / 2;
        w->pad_end[d] = pad - w->pad_begin[d];
    }
    if (attrs->auto_pad == AUTO_PAD_VALID)
        w->pad_begin[d] = w->pad_end[d] = 0;
    int64_t last_start = in + w->pad_begin[d] + w->pad_end[d] - extent;
    if (last_start < 0)
        return infer_fail(infer,
                          "a window of %lld (kernel %lld, dilation %lld) does not fit into "
                          "dimension %u, which is %lld, with pads %lld and %lld",
                          (long long)extent, (long long)w->kernel[d], (long long)w->dilation[d],
                          2 + rank - 3 + (uint32_t)d, (long long)in, (long long)w->pad_begin[d],
                          (long long)w->pad_end[d]);
    w->out[d] =
        (last_start + (attrs->rounding_type != ROUNDING_FLOOR ? stride - 1 : 0)) / stride + 1;
    if (attrs->rounding_type == ROUNDING_CEIL_TORCH &&
        (w->out[d] - 1) * stride >= in + w->pad_begin[d])
        w->out[d]--; /* otherwise the last window would start in the padding */
    return true;
}

bool infer_window_attrs(struct infer *infer, const struct window_attrs *attrs, uint32_t rank,
                        const int64_t *in, const int64_t *kernel, struct window *window)
{
    if (!infer_window_list(infer, "strides", &attrs->strides, rank, 1, 1, window->stride) ||
        !infer_window_list(infer, "dilations", &attrs->dilations, rank, 1, 1, window->dilation) ||
        !infer_window_list(infer, "pads_begin", &attrs->pads_begin, rank, -LIMIT, 0,
                           window->pad_begin) ||
        !infer_window_list(infer, "pads_end", &attrs->pads_end, rank, -LIMIT, 0, window->pad_end))
        return false;
    for (int d = 0; d < 3; d++) {
        int i = d - (3 - (int)rank);
        window->in[d] = i < 0 ? 1 : in[i];
        window->kernel[d] = i < 0 ? 1 : kernel[i];
        if (window->in[d] > LIMIT || window->kernel[d] > LIMIT || window->kernel[d] < 1)
            return infer_fail(infer, "a kernel of %lld on a dimension of %lld, expected 1 ... 2^40",
                              (long long)window->kernel[d], (long long)window->in[d]);
        if (window->kernel[d] > 1 && window->dilation[d] > LIMIT / window->kernel[d])
            return infer_fail(infer, "dilations has %lld, which is too large",
                              (long long)window->dilation[d]);
    }
    return true;
}

bool infer_window(struct infer *infer, const struct window_attrs *attrs, uint32_t rank,
                  const int64_t *in, const int64_t *kernel, struct window *window)
{
    if (!infer_window_attrs(infer, attrs, rank, in, kernel, window))
        return false;
    for (int d = 0; d < 3; d++)
        if (!size_dim(infer, attrs, window, d, rank))
            return false;
    return true;
}
