/* Random windows, and the input elements that kernel elements read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_TESTS_WINDOW_DATA_H
#define IRRUN_TESTS_WINDOW_DATA_H

#include <stdlib.h>

#include "kernels/sliding_window.h"

static uint32_t random_state = 11;

static int64_t next_between(int64_t low, int64_t high)
{
    random_state = random_state * 1664525 + 1013904223;
    return low + (int64_t)((random_state >> 8) % (uint64_t)(high - low + 1));
}

static float *new_numbers(int64_t n)
{
    float *numbers = malloc((size_t)(n > 0 ? n : 1) * sizeof *numbers);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (float)next_between(-16, 16) / 8;
    return numbers;
}

static struct window next_window(void)
{
    struct window w;
    for (int d = 0; d < 3; d++) {
        do {
            w.in[d] = next_between(1, 7);
            w.kernel[d] = next_between(1, 3);
            w.stride[d] = next_between(1, 3);
            w.dilation[d] = next_between(1, 3);
            w.pad_begin[d] = next_between(-1, 3);
            w.pad_end[d] = next_between(0, 3);
            w.out[d] = w.in[d] + w.pad_begin[d] + w.pad_end[d] - (w.kernel[d] - 1) * w.dilation[d];
        } while (w.out[d] < 1);
        w.out[d] = (w.out[d] - 1) / w.stride[d] + 1;
    }
    return w;
}

/* Makes a window of an image, whose first dimension is 1. */
static inline struct window flatten(struct window w)
{
    w.in[0] = w.out[0] = w.kernel[0] = w.stride[0] = w.dilation[0] = 1;
    w.pad_begin[0] = w.pad_end[0] = 0;
    return w;
}

/* Returns the index in a channel that kernel element k of output position o reads; -1: outside. */
static inline int64_t input_index(const struct window *w, int64_t o, int64_t k)
{
    int64_t os[3] = {o / (w->out[1] * w->out[2]), o / w->out[2] % w->out[1], o % w->out[2]};
    int64_t ks[3] = {k / (w->kernel[1] * w->kernel[2]), k / w->kernel[2] % w->kernel[1],
                     k % w->kernel[2]};
    int64_t index = 0;
    for (int d = 0; d < 3; d++) {
        int64_t at = os[d] * w->stride[d] - w->pad_begin[d] + ks[d] * w->dilation[d];
        if (at < 0 || at >= w->in[d])
            return -1;
        index = index * w->in[d] + at;
    }
    return index;
}

/* Returns a random window of stride 1, with a kernel of 3, 5 or 7 in one dimension or two. */
static inline struct window next_winograd_window(int round)
{
    struct window w = next_window();
    int n_outer = round % 6 == 1 ? 2 : 1; /* 2: one dimension */
    for (int d = 0; d < 3; d++) {
        w.kernel[d] = d == 0 || round % 3 == d ? 1 : 3 + 2 * next_between(0, 2) * (round % 4 / 2);
        w.stride[d] = w.dilation[d] = 1;
        w.in[d] = d < n_outer ? 1 : next_between(3, d == 2 && round % 7 < n_outer ? 80 : 12);
        w.pad_begin[d] = d < n_outer ? 0 : next_between(-1, 2);
        w.pad_end[d] = d < n_outer ? 0 : next_between(0, 2);
        w.out[d] = w.in[d] + w.pad_begin[d] + w.pad_end[d] - w.kernel[d] + 1;
        if (w.out[d] < 1)
            return next_winograd_window(round);
    }
    return w;
}

#endif
