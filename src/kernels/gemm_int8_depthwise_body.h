/* Depthwise convolutions of bytes with the channels last. Include after gemm_int8_store_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
enum { PIXELS = VECTOR_LANES == 16 ? 8 : 4 }; /* computed together: they share the weights */
enum { ROW_TAPS = 3 };                        /* taps of a row, whose pixels are loaded once */

/* Loads n channels. Lanes beyond them have any value; their weights are 0. */
ALWAYS_INLINE vec_i32 load_channels(const uint8_t *at, const uint8_t *end, size_t n)
{
    if (n == VECTOR_LANES || (uintptr_t)at + VECTOR_LANES <= (uintptr_t)end)
        return vec_i32_load_u8(at);
    uint8_t bytes[VECTOR_LANES] = {0};
    memcpy(bytes, at, n);
    return vec_i32_load_u8(bytes);
}

/* Adds the taps of a row. Tap t at one pixel reads the same input as tap t - 1 at the next. */
ALWAYS_INLINE void add_row(const struct int8_depthwise *d, size_t tap, size_t pixel, size_t channel,
                           const size_t n_pixels, const size_t n_taps, size_t n, vec_i32 *sums)
{
    size_t n_columns = int8_n_groups(d->n_channels) * INT8_GROUP;
    const uint8_t *from = d->taps[tap] + pixel * d->pixel_stride + channel;
    vec_i32 inputs[PIXELS + ROW_TAPS - 1];
    UNROLL
    for (size_t i = 0; i < n_pixels + n_taps - 1; i++)
        inputs[i] = load_channels(from + i * d->pixel_stride, d->end, n);
    UNROLL
    for (size_t t = 0; t < n_taps; t++) {
        vec_i32 weights = vec_i32_load(d->weights + (tap + t) * n_columns + channel);
        UNROLL
        for (size_t i = 0; i < n_pixels; i++)
            sums[i] = vec_i32_dot_channels(sums[i], inputs[i + t], weights);
    }
}

ALWAYS_INLINE void convolve_channels(const struct int8_depthwise *d, size_t pixel, size_t channel,
                                     const size_t n_pixels, const size_t row_taps, size_t n)
{
    vec_i32 sums[PIXELS];
    UNROLL
    for (size_t i = 0; i < n_pixels; i++)
        sums[i] = vec_i32_load(d->start + channel);
    for (size_t tap = 0; tap < d->n_taps; tap += row_taps)
        add_row(d, tap, pixel, channel, n_pixels, row_taps, n, sums);
    finish(d->to, &d->requantization, d->pixel_biases ? d->pixel_biases + pixel : NULL, channel,
           sums, 1, n_pixels, d->c, pixel * d->n_channels + channel, d->n_channels, n);
}

/* Computes all pixels. The last group of PIXELS overlaps the one before, so that it is whole. */
ALWAYS_INLINE void convolve_pixels(const struct int8_depthwise *d, size_t channel,
                                   const size_t row_taps, size_t n)
{
    size_t pixel = 0;
    for (; pixel + PIXELS <= d->n; pixel += PIXELS)
        convolve_channels(d, pixel, channel, PIXELS, row_taps, n);
    if (pixel < d->n && d->n >= PIXELS) {
        convolve_channels(d, d->n - PIXELS, channel, PIXELS, row_taps, n);
        return;
    }
    for (; PIXELS > 4 && pixel + 4 <= d->n; pixel += 4)
        convolve_channels(d, pixel, channel, 4, row_taps, n);
    for (; pixel < d->n; pixel++)
        convolve_channels(d, pixel, channel, 1, row_taps, n);
}

/* Computes all channels. The last vector overlaps the one before, so that it is whole. */
ALWAYS_INLINE void convolve(const struct int8_depthwise *d, const size_t row_taps)
{
    size_t channel = 0;
    for (; channel + VECTOR_LANES <= d->n_channels; channel += VECTOR_LANES)
        convolve_pixels(d, channel, row_taps, VECTOR_LANES);
    if (channel < d->n_channels && channel > 0)
        convolve_pixels(d, d->n_channels - VECTOR_LANES, row_taps, VECTOR_LANES);
    else if (VECTOR_LANES > 8 && d->n_channels == 8)
        convolve_pixels(d, 0, row_taps, 8);
    else if (channel < d->n_channels)
        convolve_pixels(d, 0, row_taps, d->n_channels);
}

static void depthwise(const struct int8_depthwise *d)
{
    if (d->row_taps == ROW_TAPS)
        convolve(d, ROW_TAPS);
    else
        convolve(d, 1);
}
