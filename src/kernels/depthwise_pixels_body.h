/* Depthwise convolutions of pixels, whose channels lie side by side: part of
 * depthwise_kernels_level.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VECTOR_LANES
#error "include the vector operations of a level before: kernels/level.h"
#endif

/* Whether a line of taps has three, of which position to position are 1 or 2 further; else 0. */
ALWAYS_INLINE size_t find_stride_of_threes(const struct depthwise_tile *tile)
{
    const int32_t *offsets = tile->offsets;
    bool is_by_threes = tile->line_taps == 3 && tile->n_taps % 3 == 0 && tile->first_tap % 3 == 0;
    for (size_t stride = 1; stride <= 2 && is_by_threes; stride++)
        if ((offsets[1] - offsets[0]) * (ptrdiff_t)stride == tile->image_step &&
            (offsets[2] - offsets[1]) * (ptrdiff_t)stride == tile->image_step)
            return stride;
    return 0;
}

/* Three such taps: each element is read once for all positions. */
ALWAYS_INLINE void add_three_taps(const struct depthwise_tile *tile, ptrdiff_t start, size_t n_rows,
                                  size_t stride, const float *weights, vec *results)
{
    const float *at = tile->image + start;
    const ptrdiff_t step = tile->image_step / (ptrdiff_t)stride;
    vec w[3];
    UNROLL
    for (size_t tap = 0; tap < 3; tap++)
        w[tap] = vec_load(weights + tap * VECTOR_LANES);
    UNROLL
    for (size_t i = 0; i < (n_rows - 1) * stride + 3; i++, at += step) {
        vec x = vec_in_register(vec_load(at));
        UNROLL
        for (size_t tap = 0; tap < 3; tap++)
            if (i >= tap && (i - tap) % stride == 0 && (i - tap) / stride < n_rows)
                results[(i - tap) / stride] = vec_fma(w[tap], x, results[(i - tap) / stride]);
    }
}

/* n_rows positions from p on, for the channels from `channel` on that a vector has, or fewer. */
ALWAYS_INLINE void run_pixels(const struct depthwise_tile *tile, size_t p, size_t n_rows,
                              size_t channel, const float *weights, bool is_part, size_t stride)
{
    vec results[MAX_VECTORS];
    const ptrdiff_t step = tile->image_step;
    const ptrdiff_t start = tile->start + (ptrdiff_t)p * step + (ptrdiff_t)channel;
    UNROLL
    for (size_t r = 0; r < n_rows; r++)
        results[r] = vec_zero();
    for (size_t slice = 0; slice < tile->n_slices; slice++) {
        for (size_t line = 0; line < tile->n_lines; line++) {
            size_t t = tile->first_tap + slice * tile->slice_taps + line * tile->line_taps;
            size_t end = t + tile->n_taps;
            for (; t < end && stride > 0; t += 3)
                add_three_taps(tile, start + tile->offsets[t], n_rows, stride,
                               weights + t * VECTOR_LANES, results);
            for (; t < end; t++) {
                const float *at = tile->image + (start + tile->offsets[t]);
                vec weight = vec_load(weights + t * VECTOR_LANES);
                UNROLL
                for (size_t r = 0; r < n_rows; r++, at += step)
                    results[r] = vec_fma(
                        weight, is_part ? vec_load_first(at, tile->n_channels) : vec_load(at),
                        results[r]);
            }
        }
    }
    vec start_value = vec_load(weights + tile->block_weights - VECTOR_LANES);
    vec low = vec_set1(tile->bounds ? tile->bounds[0] : -INFINITY);
    vec high = vec_set1(tile->bounds ? tile->bounds[1] : INFINITY);
    UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        float *to = tile->out + (p + r) * tile->out_step + channel;
        vec result = vec_hold(vec_add(results[r], start_value), low, high);
        if (is_part)
            vec_store_first(to, result, tile->n_channels);
        else
            vec_store(to, result);
    }
}

#define PIXELS(rows)                                                                               \
    case rows:                                                                                     \
        if (is_part)                                                                               \
            run_pixels(tile, p, rows, 0, weights, true, 0);                                        \
        else if (stride == 1)                                                                      \
            run_pixels(tile, p, rows, at, weights, false, 1);                                      \
        else if (stride == 2)                                                                      \
            run_pixels(tile, p, rows, at, weights, false, 2);                                      \
        else                                                                                       \
            run_pixels(tile, p, rows, at, weights, false, 0);                                      \
        break;

/* All channels of a few positions after another, so that what they share is in the cache. */
static void pixels(const struct depthwise_tile *tile)
{
    size_t n_parts = (tile->n + MAX_VECTORS - 1) / MAX_VECTORS, p = 0;
    const bool is_part = tile->n_channels < VECTOR_LANES;
    const size_t stride = find_stride_of_threes(tile);
    for (size_t part = 0; part < n_parts; part++) {
        size_t end = tile->n * (part + 1) / n_parts;
        const float *weights = tile->weights;
        for (size_t channel = 0; channel < tile->n_channels; channel += VECTOR_LANES) {
            size_t last = tile->n_channels - VECTOR_LANES, at = channel < last ? channel : last;
            switch (end - p) {
                PIXELS(1)
                PIXELS(2)
                PIXELS(3)
                PIXELS(4)
                PIXELS(5)
                PIXELS(6)
                PIXELS(7)
                PIXELS(8)
            }
            weights += tile->block_weights;
        }
        p = end;
    }
}
