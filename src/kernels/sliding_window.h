/* The geometry of a window that slides over up to three spatial dimensions, for convolutions and
 * poolings.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_SLIDING_WINDOW_H
#define IRRUN_KERNELS_SLIDING_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes, outermost dimension first; tensors of fewer dimensions are padded with leading 1s. For
 * kernel element k, output position o reads input position o * stride - pad_begin + k *
 * dilation. */
struct window {
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3];
    int64_t pad_begin[3], pad_end[3];
};

/* Returns the product of the sizes. */
static inline int64_t window_product(const int64_t dims[3])
{
    return dims[0] * dims[1] * dims[2];
}

/* If the input, the kernel and the output have one column each, turns the columns into rows: swaps
 * dimensions 1 and 2. */
static inline void window_make_row(struct window *w)
{
    int64_t *const dims[] = {w->in,       w->out,       w->kernel, w->stride,
                             w->dilation, w->pad_begin, w->pad_end};
    if (w->in[2] != 1 || w->kernel[2] != 1 || w->out[2] != 1)
        return;
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        int64_t rows = dims[i][1];
        dims[i][1] = dims[i][2];
        dims[i][2] = rows;
    }
}

/* Returns whether a size is 0 or less. Unlike window_product, it cannot overflow. */
static inline bool window_is_empty(const int64_t dims[3])
{
    return dims[0] <= 0 || dims[1] <= 0 || dims[2] <= 0;
}

/* Computes the coordinates of element i of an array [dims], row-major. */
static inline void window_unravel(const int64_t dims[3], int64_t i, int64_t at[3])
{
    at[0] = i / (dims[1] * dims[2]);
    at[1] = i / dims[2] % dims[1];
    at[2] = i % dims[2];
}

/* Divides and rounds up. Skips the division by 1, since most divisors are 1 and divisions are
 * slow. */
static inline int64_t window_divide(int64_t n, int64_t by)
{
    return by == 1 ? n : (n + by - 1) / by;
}

/* Computes the indices [first, end), of 0 ... n - 1, for which at + index * step is in
 * 0 ... size - 1. */
static inline void window_range(int64_t at, int64_t step, int64_t size, int64_t n, int64_t *first,
                                int64_t *end)
{
    *first = at < 0 ? window_divide(-at, step) : 0;
    *end = at < size ? window_divide(size - at, step) : 0;
    *end = *end < n ? *end : n;
    *first = *first < *end ? *first : *end;
}

/* Computes the kernel elements [first, end) along dimension d that lie inside the input for output
 * position o. */
static inline void window_inside(const struct window *window, int d, int64_t o, int64_t *first,
                                 int64_t *end)
{
    window_range(o * window->stride[d] - window->pad_begin[d], window->dilation[d], window->in[d],
                 window->kernel[d], first, end);
}

/* Computes the output positions [first, end) along dimension d for which kernel element k lies
 * inside the input. */
static inline void window_positions(const struct window *window, int d, int64_t k, int64_t *first,
                                    int64_t *end)
{
    window_range(k * window->dilation[d] - window->pad_begin[d], window->stride[d], window->in[d],
                 window->out[d], first, end);
}

/* Moves trailing trivial dimensions (one position, one kernel element, no pads) to the front, so
 * that an image [n, 1] becomes a row of n. */
static inline void window_align(struct window *w)
{
    for (int i = 0; i < 2; i++) {
        if (w->in[2] != 1 || w->out[2] != 1 || w->kernel[2] != 1 || w->pad_begin[2] != 0 ||
            w->pad_end[2] != 0)
            return;
        int64_t *const members[] = {w->in,       w->out,       w->kernel, w->stride,
                                    w->dilation, w->pad_begin, w->pad_end};
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            int64_t last = members[m][2];
            members[m][2] = members[m][1];
            members[m][1] = members[m][0];
            members[m][0] = last;
        }
    }
}

#endif
