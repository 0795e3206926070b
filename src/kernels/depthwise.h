/* Depthwise convolutions and poolings in f32, with any kernel, stride, dilation and pads. There are
 * three layouts. Rows: vectors lie along the rows of a channel. The channel is copied with its pads
 * and, if the stride s is above 1, its rows are divided into planes (positions 0, s, 2s ..., then
 * 1, s + 1 ...). Blocked, for short rows: each lane holds a channel, and channels are transposed
 * into blocks. Channels last: each lane holds a channel, and nothing is copied.
 *
 * The rows layout includes pads, which the scalar loops skip, and the product inside a fused
 * multiply-add cannot overflow. Both change a result only if it is not finite (or, for a maximum,
 * -inf). The scalar loops compute a channel with such a result again, except with the channels
 * last.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_DEPTHWISE_H
#define IRRUN_KERNELS_DEPTHWISE_H

#include "base/arena.h"
#include "kernels/depthwise_kernels.h"
#include "kernels/epilogue.h"
#include "kernels/sliding_window.h"
#include "kernels/thread_pool.h"

/* n output positions along one dimension, from `first` on, whose windows contain the same taps,
 * [begin, end). */
struct depthwise_span {
    int64_t first, n, begin, end;
};

/* Output positions of a row, from `first` on. If n_along is 0, a tile holds n_vectors vectors from
 * each of several rows. Otherwise it holds n_along vectors from one row. */
struct depthwise_strip {
    int64_t first;
    size_t n_vectors, n_along;
};

/* The positions of a plane that lie inside the input: n, from `first` on. Position `first` is
 * element `from` of the input row. */
struct depthwise_plane {
    int64_t first, n, from;
};

struct depthwise {
    /* Set by the caller of depthwise_plan. */
    struct window window;
    const struct depthwise_kernels *kernels;
    enum depthwise_term term;
    bool exclude_pad;              /* for means, as in pool.h */
    int64_t n_batches, n_channels; /* all batch elements have the same weights */
    int64_t multiplier;            /* output channels per input channel */
    bool channels_last;            /* layout of the input and the output; not for sums */

    bool is_blocked;        /* each lane has a channel; otherwise vectors lie along rows */
    bool is_2x2_pool;       /* rows: windows of 2 x 2 without overlap, read in place */
    bool is_copied;         /* rows only: the input is copied; otherwise it is read in place */
    int64_t origin;         /* image offset of tap 0 of position 0 */
    int64_t steps[3];       /* floats from one position to the next */
    int64_t strides[3];     /* floats from one element of the image to the next */
    const int32_t *offsets; /* image offset of each tap, relative to tap 0 */
    const struct depthwise_span *spans[3];
    size_t n_spans[3];
    size_t row_stride;   /* as in depthwise_tile, for spans of all taps */
    bool has_whole_rows; /* spans[2] is one span; the kernels skip taps in pads */
    size_t pixel_floats; /* channels in lanes: floats from one output position to the next */
    const struct depthwise_strip *strips; /* rows only: replace spans[2] */
    size_t n_strips;
    const struct depthwise_plane *planes; /* planes of a row, if the channel is copied */
    size_t n_planes, plane_floats;        /* number of planes; floats per plane */
    /* For sums, 1 / count: [spans[0]][spans[1]][spans[2] or positions of a row]. */
    const float *scales;
    size_t image_floats, scratch_floats; /* per thread; scratch_floats includes the image */
    size_t packed_floats; /* products with channels_last: size of the packed weights */
    double n_terms;       /* multiply-adds of all channels */
};

/* Sets the sizes in *plan. Returns false if there is nothing to compute or a size overflows. */
bool depthwise_measure(struct depthwise *plan);

/* Calls depthwise_measure, sets *is_possible to its result, and allocates the arrays of the plan
 * from the arena. Returns false with *err filled if memory runs out. */
bool depthwise_plan(struct depthwise *plan, struct arena *arena, bool *is_possible,
                    struct irrun_error *err);

/* Computes the size of the scratch memory of depthwise_run; returns false if it overflows. */
bool depthwise_memory(const struct depthwise *plan, unsigned n_threads, size_t *n_bytes);

/* Packs weights [n_channels][kernel] of f32 or f16 for channels_last: [blocks][kernel][lanes]. The
 * last block holds the last channels and may overlap the one before. */
void depthwise_pack(const struct depthwise *plan, const void *weights, bool is_f16, float *packed);

struct depthwise_job {
    const float *in; /* [n_batches][n_channels][in], or [n_batches][in][n_channels] */
    /* For products: [n_channels][multiplier][kernel], or packed if channels_last. */
    const float *weights;
    float *out; /* [n_batches][n_channels][multiplier][out], or channels last as `in` */
    float *scratch;
    struct thread_pool *pool;
    const struct epilogue *epilogue; /* NULL: none */
    size_t first;                    /* index of out[0] in the output of the epilogue */
};

void depthwise_run(const struct depthwise *plan, const struct depthwise_job *job);

/* Computes output rows begin ... end - 1 of a batch element that has one slice, with the channels
 * last. job->in and job->out are the addresses of row 0, even if row 0 is not in memory. */
void depthwise_run_rows(const struct depthwise *plan, const struct depthwise_job *job,
                        int64_t begin, int64_t end);

#endif
