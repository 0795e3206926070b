/* Windows that slide over every channel alone, in f32: depthwise convolutions and poolings, of any
 * kernel, stride, dilation and pads. Either the vectors lie along the rows of a channel, which is
 * laid out with its pads and, for strides, in planes (positions 0, s, 2s ... of a row, then 1,
 * s + 1 ...), or, where rows are short, there is a channel in each lane. Where the channels lie
 * last, that needs no copy.
 *
 * The tiles leave out what the loops of scalars leave out only where that makes no difference to
 * finite numbers. A channel in which one met another is computed again, by those loops.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_DEPTHWISE_H
#define IRRUN_KERNELS_DEPTHWISE_H

#include "base/arena.h"
#include "kernels/depthwise_kernels.h"
#include "kernels/epilogue.h"
#include "kernels/sliding_window.h"
#include "kernels/thread_pool.h"

/* n positions from `first` on that see the same elements of the kernel, [begin, end). */
struct depthwise_span {
    int64_t first, n, begin, end;
};

/* Positions of a row from `first` on: n_vectors of them, down the rows, or, unless n_along is 0,
 * n_along single vectors of the same row. */
struct depthwise_strip {
    int64_t first;
    size_t n_vectors, n_along;
};

/* The positions of a plane that lie inside the input: n from `first` on, the first of which is
 * element `from` of a row. */
struct depthwise_plane {
    int64_t first, n, from;
};

struct depthwise {
    /* To be filled in before the plan is made. */
    struct window window;
    const struct depthwise_kernels *kernels;
    enum depthwise_term term;
    bool exclude_pad;              /* of means, as in pool.h */
    int64_t n_batches, n_channels; /* every batch has so many channels, with the same weights */
    int64_t multiplier;            /* output channels of a channel */
    bool is_last;                  /* of products: the channels lie last, in and out */

    bool is_blocked;          /* a channel in each lane, else rows */
    bool is_copied;           /* rows: else the input is read as it lies */
    int64_t origin, steps[3]; /* in the image: tap 0 of position 0, and how far to the next */
    int64_t strides[3];       /* and how far it is to the next element */
    const int32_t *offsets;   /* of the taps in the image */
    const struct depthwise_span *spans[3];
    size_t n_spans[3];
    size_t pixel; /* lanes: floats from position to position of the results */
    const struct depthwise_strip
        *strips; /* rows: instead of the spans of the innermost dimension */
    size_t n_strips;
    const struct depthwise_plane *planes; /* of a row, if it is laid */
    size_t n_planes, plane;               /* and floats of one */
    const float *scales; /* of sums: for spans 0 and 1, and those of 2 or all positions of a row */
    size_t image_floats, scratch_floats; /* the latter of a thread */
    double n_terms;                      /* of all channels */
};

/* Spans, planes and the like come from the arena. False with *err filled if there is no memory.
 * *is_possible: whether there is something to compute, and not too much to count. */
bool depthwise_plan(struct depthwise *plan, struct arena *arena, bool *is_possible,
                    struct irrun_error *err);

/* What depthwise_run wants as its scratch memory; false if that is too much to count. */
bool depthwise_memory(const struct depthwise *plan, unsigned n_threads, size_t *n_bytes);

struct depthwise_job {
    const float *in;      /* [n_batches][n_channels][in], or [n_batches][in][n_channels] */
    const float *weights; /* [n_channels][multiplier][kernel], of products */
    float *out;           /* [n_batches][n_channels][multiplier][out], or as in */
    float *scratch;
    struct thread_pool *pool;
    const struct epilogue *epilogue; /* NULL: none */
};

void depthwise_run(const struct depthwise *plan, const struct depthwise_job *job);

#endif
