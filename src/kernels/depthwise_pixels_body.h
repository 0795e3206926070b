/* Micro-kernels of depthwise convolution and max pooling with the channels last: compute one vector
 * of channels for as many positions as registers hold, or several vectors of channels for a few
 * positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/depthwise_kernels.h"

#ifndef VECTOR_LANES
#error "include kernels/level.h first"
#endif

#define MAX_LINE_TAPS 5 /* maximum n_taps of add_line */

/* Returns whether the windows have three lines of three taps, none of them in pads. */
ALWAYS_INLINE bool is_inner_3x3(const struct depthwise_tile *tile)
{
    return tile->line_taps == 3 && tile->n_taps == 9 && tile->n_slices * tile->n_lines == 1 &&
           tile->first_pixel >= 0 &&
           (size_t)tile->first_pixel + (tile->n - 1) * tile->row_stride + 3 <= tile->n_pixels;
}

/* Loops over the results of run_pixels: n_rows positions r, of n_vectors vectors of channels v
 * each. */
#define EACH_RESULT(r, v, n_rows, n_vectors)                                                       \
    UNROLL for (size_t r = 0; r < (n_rows); r++) UNROLL for (size_t v = 0; v < (n_vectors); v++)

/* Adds the taps of a line, from tap `first` on, to the results of n_rows positions. The first
 * position is at image offset `start`. n: the number of channels per vector. */
ALWAYS_INLINE void add_taps(const struct depthwise_tile *tile, ptrdiff_t start, size_t first,
                            size_t n_rows, size_t n_vectors, const float *weights, size_t n,
                            enum depthwise_term term, vec results[])
{
    for (size_t t = first; t < first + tile->n_taps; t++) {
        const float *at = tile->image + (start + tile->offsets[t]);
        vec weight[MAX_VECTORS];
        UNROLL
        for (size_t v = 0; v < n_vectors; v++)
            weight[v] = term == DEPTHWISE_PRODUCTS
                            ? vec_load(weights + v * tile->block_weights + t * VECTOR_LANES)
                            : vec_zero();
        EACH_RESULT(r, v, n_rows, n_vectors)
        {
            const float *from = at + (ptrdiff_t)r * tile->image_step + v * VECTOR_LANES;
            vec *result = &results[r * n_vectors + v];
            *result = add_term(weight[v], vec_load_n(from, n), *result, term);
        }
    }
}

/* Computes the same sums in the same order for a line of n_taps taps, from tap t on, and for
 * positions that share pixels: loads each pixel once, and skips pixels in pads. Without vec_keep,
 * gcc would compute the last sum in the register of the pixel, and then move it. Without the asm,
 * gcc would compute all addresses in advance. The loop over pixels is two nested loops, because gcc
 * unrolls a loop at most 16 times. */
ALWAYS_INLINE void add_line(const struct depthwise_tile *tile, size_t p, size_t channel, size_t t,
                            size_t n_rows, const float *weights, size_t n_taps, size_t stride,
                            bool has_pads, vec results[])
{
    const uintptr_t step = (uintptr_t)(tile->image_step / (ptrdiff_t)stride) * sizeof(float);
    uintptr_t at =
        (uintptr_t)tile->image + (uintptr_t)(tile->start + (ptrdiff_t)p * tile->image_step +
                                             (ptrdiff_t)channel + tile->offsets[t]) *
                                     sizeof(float);
    const size_t n_pixels = (n_rows - 1) * stride + n_taps;
    size_t pixel = (size_t)tile->first_pixel + p * stride;
    vec w[MAX_LINE_TAPS];
    UNROLL
    for (size_t tap = 0; tap < n_taps; tap++)
        w[tap] = vec_in_register(vec_load(weights + (t + tap) * VECTOR_LANES));
    UNROLL
    for (size_t first = 0; first < n_pixels; first += stride) {
        UNROLL
        for (size_t i = first; i < first + stride; i++, at += step, pixel++) {
            if (has_pads || n_taps > 3)
                __asm__("" : "+r"(at), "+r"(pixel));
            if (i >= n_pixels || (has_pads && pixel >= tile->n_pixels))
                continue;
            vec x = vec_in_register(vec_load((const void *)at));
            UNROLL
            for (size_t tap = 0; tap < n_taps; tap++)
                if (i >= tap && (i - tap) % stride == 0 && (i - tap) / stride < n_rows)
                    results[(i - tap) / stride] = vec_fma(w[tap], x, results[(i - tap) / stride]);
            vec_keep(x);
        }
    }
}

/* Stores the results of n_rows positions, from p on. Returns the updated check. Reads all members
 * of *tile before the first store, since the compiler must assume that a store may overwrite
 * *tile. */
ALWAYS_INLINE vec store_pixels(const struct depthwise_tile *tile, size_t p, size_t n_rows,
                               size_t n_vectors, size_t channel, size_t n, enum depthwise_term term,
                               const vec results[], vec check)
{
    const size_t out_step = tile->out_step;
    float *out = tile->out + p * out_step + channel;
    vec low = vec_set1(tile->bounds ? tile->bounds[0] : -INFINITY);
    vec high = vec_set1(tile->bounds ? tile->bounds[1] : INFINITY);
    vec adjustments[MAX_VECTORS];
    UNROLL
    for (size_t v = 0; v < n_vectors; v++)
        adjustments[v] = tile->adjustment
                             ? vec_load_n(tile->adjustment + channel + v * VECTOR_LANES, n)
                             : vec_zero();
    UNROLL
    for (size_t r = 0; r < n_rows; r++, out += out_step) {
        UNROLL
        for (size_t v = 0; v < n_vectors; v++) {
            vec result = results[r * n_vectors + v];
            if (term == DEPTHWISE_MAXIMA)
                check = vec_min(result, check);
            else
                result = vec_max_min(vec_add(result, adjustments[v]), low, high);
            vec_store_n(out + v * VECTOR_LANES, result, n);
        }
    }
    return check;
}

/* Computes n_rows positions from p on, for n_vectors vectors of n channels from `channel` on. */
ALWAYS_INLINE vec run_pixels(const struct depthwise_tile *tile, size_t p, size_t n_rows,
                             size_t n_vectors, size_t channel, const float *weights, size_t n,
                             size_t stride, size_t n_taps, bool is_3x3, enum depthwise_term term,
                             vec check)
{
    vec results[MAX_VECTORS];
    const ptrdiff_t start = tile->start + (ptrdiff_t)p * tile->image_step + (ptrdiff_t)channel;
    UNROLL
    for (size_t r = 0; r < n_rows * n_vectors; r++)
        results[r] = vec_set1(term == DEPTHWISE_MAXIMA ? -INFINITY : 0.0F);
    UNROLL
    for (size_t line = 0; line < 3 && is_3x3; line++)
        add_line(tile, p, channel, tile->first_tap + 3 * line, n_rows, weights, 3, stride, false,
                 results);
    const ptrdiff_t pixel = tile->first_pixel + (ptrdiff_t)(p * stride);
    const bool has_pads =
        pixel < 0 || (size_t)pixel + (n_rows - 1) * stride + n_taps > tile->n_pixels;
    for (size_t slice = 0; slice < tile->n_slices && !is_3x3; slice++) {
        size_t first = tile->first_tap + slice * tile->slice_taps;
        size_t n_lines = stride > 0 ? tile->n_taps / n_taps : tile->n_lines;
        for (size_t line = 0; line < n_lines; line++, first += tile->line_taps) {
            if (stride == 0)
                add_taps(tile, start, first, n_rows, n_vectors, weights, n, term, results);
            else if (n_taps == 3 || has_pads)
                add_line(tile, p, channel, first, n_rows, weights, n_taps, stride, true, results);
            else
                add_line(tile, p, channel, first, n_rows, weights, n_taps, stride, false, results);
        }
    }
    return store_pixels(tile, p, n_rows, n_vectors, channel, n, term, results, check);
}

#define PIXELS(rows)                                                                               \
    case rows:                                                                                     \
        if (stride > 0 && (rows) < DEPTHWISE_MIN_ROW)                                              \
            break;                                                                                 \
        return run_pixels(tile, p, rows, n_vectors, channel, weights, VECTOR_LANES, stride,        \
                          n_taps, is_3x3, term, check);

ALWAYS_INLINE vec run_some_pixels(const struct depthwise_tile *tile, size_t p, size_t n,
                                  size_t channel, const float *weights, size_t stride,
                                  size_t n_taps, bool is_3x3, enum depthwise_term term, vec check)
{
    const size_t n_vectors = 1;
    switch (n) {
        PIXELS(1)
        PIXELS(2)
        PIXELS(3)
        PIXELS(4)
        PIXELS(5)
        PIXELS(6)
        PIXELS(7)
        PIXELS(8)
    }
    return check;
}

#define FEW_PIXELS (MAX_VECTORS / DEPTHWISE_CHANNEL_VECTORS)
_Static_assert(FEW_PIXELS == 2, "run_few_pixels has a case for each number of positions");

/* Computes DEPTHWISE_CHANNEL_VECTORS vectors of channels for at most FEW_PIXELS positions. */
ALWAYS_INLINE vec run_few_pixels(const struct depthwise_tile *tile, size_t p, size_t n,
                                 size_t channel, const float *weights, enum depthwise_term term,
                                 vec check)
{
    const size_t n_vectors = DEPTHWISE_CHANNEL_VECTORS, stride = 0, n_taps = 0;
    const bool is_3x3 = false;
    switch (n) {
        PIXELS(1)
        PIXELS(2)
    }
    return check;
}

/* Computes all channels of a few positions, then the next positions, so that the pixels of
 * overlapping windows are still in the cache. */
ALWAYS_INLINE void run_all_pixels(const struct depthwise_tile *tile, enum depthwise_term term)
{
    size_t n_parts = (tile->n + MAX_VECTORS - 1) / MAX_VECTORS, p = 0;
    const size_t stride = term == DEPTHWISE_PRODUCTS ? tile->row_stride : 0;
    const bool is_3x3 = stride > 0 && is_inner_3x3(tile);
    const size_t block = tile->block_weights;
    vec check = term == DEPTHWISE_MAXIMA ? vec_load(tile->check) : vec_zero();
    for (; tile->n_channels < VECTOR_LANES && p < tile->n; p++)
        check =
            run_pixels(tile, p, 1, 1, 0, tile->weights, tile->n_channels, 0, 0, false, term, check);
    for (size_t part = 0; part < n_parts && p < tile->n; part++) {
        size_t end = tile->n * (part + 1) / n_parts, last = tile->n_channels - VECTOR_LANES;
        const float *weights = tile->weights;
        size_t channel = 0, step = DEPTHWISE_CHANNEL_VECTORS * VECTOR_LANES;
        for (; stride == 0 && end - p <= FEW_PIXELS && channel + step <= tile->n_channels;
             channel += step) {
            check = run_few_pixels(tile, p, end - p, channel, weights, term, check);
            if (term == DEPTHWISE_PRODUCTS) /* maxima have no weights */
                weights += DEPTHWISE_CHANNEL_VECTORS * block;
        }
        for (; channel < tile->n_channels; channel += VECTOR_LANES) {
            size_t at = channel < last ? channel : last;
            if (stride == 1 && is_3x3)
                check = run_some_pixels(tile, p, end - p, at, weights, 1, 3, true, term, check);
            else if (is_3x3)
                check = run_some_pixels(tile, p, end - p, at, weights, 2, 3, true, term, check);
            else if (stride == 1 && tile->line_taps == 3)
                check = run_some_pixels(tile, p, end - p, at, weights, 1, 3, false, term, check);
            else if (stride == 1)
                check = run_some_pixels(tile, p, end - p, at, weights, 1, 5, false, term, check);
            else if (stride == 2 && tile->line_taps == 5)
                check = run_some_pixels(tile, p, end - p, at, weights, 2, 5, false, term, check);
            else
                check = run_some_pixels(tile, p, end - p, at, weights, 0, 0, false, term, check);
            if (term == DEPTHWISE_PRODUCTS)
                weights += block;
        }
        p = end;
    }
    if (term == DEPTHWISE_MAXIMA)
        vec_store(tile->check, check);
}

static void multiply_pixels(const struct depthwise_tile *tile)
{
    run_all_pixels(tile, DEPTHWISE_PRODUCTS);
}

static void max_pixels(const struct depthwise_tile *tile)
{
    run_all_pixels(tile, DEPTHWISE_MAXIMA);
}
