/* Micro-kernels for depthwise convolutions of bytes with the channels last. Include after
 * gemm_int8_store_body.h.
 * SPDX-License-Identifier: Apache-2.0 */
enum { MAX_INPUTS = 2 * INT8_MAX_SHARED_TAPS }; /* vectors that stay in the L1 cache */
enum { TILE_PIXELS = 8 }; /* pixels whose sums stay in registers; they share loaded weights */

/* A chunk of LANE_TAPS rows of taps; a lane multiplies one tap of each row. `taps` holds the first
 * tap of each row. If only n rows are left, the last row is repeated with weights of 0. */
struct chunk {
    const uint8_t *taps[LANE_TAPS];
    size_t n;
};

ALWAYS_INLINE struct chunk make_chunk(const struct int8_depthwise *d, size_t row)
{
    struct chunk chunk = {.n = d->n_rows - row < LANE_TAPS ? d->n_rows - row : LANE_TAPS};
    UNROLL
    for (size_t i = 0; i < LANE_TAPS; i++)
        chunk.taps[i] = d->taps[(row + (i < chunk.n ? i : chunk.n - 1)) * d->n_columns];
    return chunk;
}

/* Loads n channels, `at` bytes after the first taps of a chunk. */
ALWAYS_INLINE vec_i32 load_taps(const struct int8_depthwise *d, const struct chunk *chunk,
                                size_t at, const size_t n)
{
    uint8_t bytes[LANE_TAPS][VECTOR_LANES] = {0};
    const uint8_t *from[LANE_TAPS];
    UNROLL
    for (size_t i = 0; i < LANE_TAPS; i++) {
        from[i] = chunk->taps[i] + at;
        if (n < VECTOR_LANES && (uintptr_t)from[i] + VECTOR_LANES > (uintptr_t)d->end)
            from[i] = memcpy(bytes[i], from[i], n);
    }
    return chunk->n == 1 ? vec_i32_load_u8(from[0]) : vec_i32_load_taps(from);
}

/* Pixels from `first` on, and channels from `channel` on. `inputs` holds n_inputs loaded columns
 * per chunk of rows; pixel i of the part reads the columns from i * step on. With one column of
 * taps, `inputs` is unused, and taps are loaded when they are multiplied. */
struct part {
    size_t first, channel, n_inputs, step;
    const vec_i32 *inputs;
};

/* Computes n_pixels pixels of a part, from `pixel` on. */
ALWAYS_INLINE void convolve_tile(const struct int8_depthwise *d, const struct part *part,
                                 size_t pixel, const size_t n_pixels, const size_t n)
{
    size_t n_all = int8_n_groups(d->n_channels) * INT8_GROUP, channel = part->channel;
    size_t out = part->first + pixel, at = out * d->pixel_stride + channel;
    const int32_t *weights = (const int32_t *)d->weights + channel;
    const vec_i32 *inputs = part->inputs + pixel * part->step;
    vec_i32 sums[TILE_PIXELS];
    UNROLL
    for (size_t i = 0; i < n_pixels; i++)
        sums[i] = vec_i32_load(d->start + channel);
    for (size_t row = 0; row < d->n_rows; row += LANE_TAPS, inputs += part->n_inputs) {
        if (d->n_columns == 1) {
            struct chunk chunk = make_chunk(d, row);
            vec_i32 column = vec_i32_load(weights);
            for (size_t i = 0; i < n_pixels; i++)
                sums[i] = vec_i32_dot_taps(
                    sums[i], load_taps(d, &chunk, at + i * d->pixel_stride, n), column);
            weights += n_all;
            continue;
        }
        for (size_t t = 0; t < d->n_columns; t++, weights += n_all) {
            vec_i32 column = vec_i32_load(weights);
            UNROLL
            for (size_t i = 0; i < n_pixels; i++)
                sums[i] = vec_i32_dot_taps(sums[i], inputs[i * part->step + t], column);
        }
    }
    store_sums(d->to, &d->requantization, d->pixel_biases ? d->pixel_biases + out : NULL, channel,
               sums, 1, n_pixels, d->c, out * d->n_channels + channel, d->n_channels, n);
}

/* Computes n_pixels pixels of a full vector of channels. The last tile overlaps the one before, so
 * that it is full. */
static void convolve_vector(const struct int8_depthwise *d, const struct part *part,
                            size_t n_pixels)
{
    size_t i = 0;
    for (; i + 4 < n_pixels && n_pixels >= 8; i += 8)
        convolve_tile(d, part, i + 8 <= n_pixels ? i : n_pixels - 8, 8, VECTOR_LANES);
    for (; i + 1 < n_pixels && n_pixels >= 4; i += 4)
        convolve_tile(d, part, i + 4 <= n_pixels ? i : n_pixels - 4, 4, VECTOR_LANES);
    for (; i < n_pixels; i++)
        convolve_tile(d, part, i, 1, VECTOR_LANES);
}

/* Computes n_pixels pixels of the first n channels of a vector. */
ALWAYS_INLINE void convolve_first(const struct int8_depthwise *d, const struct part *part,
                                  size_t n_pixels, size_t n)
{
    size_t i = 0;
    for (; i + 1 < n_pixels && n_pixels >= 4; i += 4)
        convolve_tile(d, part, i + 4 <= n_pixels ? i : n_pixels - 4, 4, n);
    for (; i < n_pixels; i++)
        convolve_tile(d, part, i, 1, n);
}

static void convolve_first_8(const struct int8_depthwise *d, const struct part *part,
                             size_t n_pixels)
{
    convolve_first(d, part, n_pixels, 8);
}

ALWAYS_INLINE void convolve_part(const struct int8_depthwise *d, const struct part *part,
                                 size_t n_pixels, const size_t n)
{
    if (n == VECTOR_LANES)
        convolve_vector(d, part, n_pixels);
    else if (VECTOR_LANES > 8 && n == 8)
        convolve_first_8(d, part, n_pixels);
    else
        convolve_first(d, part, n_pixels, n);
}

/* Computes n_pixels pixels, from `pixel` on, for kernels with three columns. Each loaded input
 * column is multiplied for all pixels that read it. step: the distance of neighbouring pixels, in
 * columns. */
ALWAYS_INLINE void convolve_tile_3_columns(const struct int8_depthwise *d, size_t channel,
                                           size_t pixel, const size_t n_pixels, const size_t step,
                                           const size_t n)
{
    size_t n_all = int8_n_groups(d->n_channels) * INT8_GROUP;
    const int32_t *weights = (const int32_t *)d->weights + channel;
    vec_i32 sums[TILE_PIXELS], w[3];
    UNROLL
    for (size_t i = 0; i < n_pixels; i++)
        sums[i] = vec_i32_load(d->start + channel);
    for (size_t row = 0; row < d->n_rows; row += LANE_TAPS, weights += 3 * n_all) {
        struct chunk chunk = make_chunk(d, row);
        size_t at = pixel * d->pixel_stride + channel;
        UNROLL
        for (size_t t = 0; t < 3; t++)
            w[t] = vec_i32_load(weights + t * n_all);
        UNROLL
        for (size_t i = 0; i < (n_pixels - 1) * step + 3; i++, at += d->column_stride) {
            vec_i32 x = load_taps(d, &chunk, at, n);
            UNROLL
            for (size_t t = i % step; t < 3 && t <= i; t += step)
                if ((i - t) / step < n_pixels)
                    sums[(i - t) / step] = vec_i32_dot_taps(sums[(i - t) / step], x, w[t]);
        }
    }
    store_sums(d->to, &d->requantization, d->pixel_biases ? d->pixel_biases + pixel : NULL, channel,
               sums, 1, n_pixels, d->c, pixel * d->n_channels + channel, d->n_channels, n);
}

/* Computes all pixels, at least four, for kernels with three columns. */
ALWAYS_INLINE void convolve_3_columns(const struct int8_depthwise *d, size_t channel,
                                      const size_t n)
{
    size_t i = 0, last = d->n - 4;
    if (d->pixel_stride == d->column_stride)
        for (; i + 4 < d->n && d->n >= 8; i += 8)
            convolve_tile_3_columns(d, channel, i + 8 <= d->n ? i : d->n - 8, 8, 1, n);
    for (; i < d->n; i += 4)
        if (d->pixel_stride == d->column_stride)
            convolve_tile_3_columns(d, channel, i < last ? i : last, 4, 1, n);
        else
            convolve_tile_3_columns(d, channel, i < last ? i : last, 4, 2, n);
}

/* Computes n channels of all pixels. Neighbouring pixels read the same columns, which are loaded
 * once. */
ALWAYS_INLINE void convolve_channels(const struct int8_depthwise *d, size_t channel, const size_t n)
{
    vec_i32 inputs[MAX_INPUTS];
    struct part part = {0, channel, 0, 0, inputs};
    if (d->n_columns == 1) {
        convolve_part(d, &part, d->n, n);
        return;
    }
    size_t n_chunks = (d->n_rows + LANE_TAPS - 1) / LANE_TAPS;
    part.step = d->pixel_stride / d->column_stride;
    size_t max = (MAX_INPUTS / n_chunks - d->n_columns) / part.step + 1, n_pixels;
    for (; part.first < d->n; part.first += n_pixels) {
        n_pixels = d->n - part.first < max ? d->n - part.first : max;
        part.n_inputs = (n_pixels - 1) * part.step + d->n_columns;
        for (size_t row = 0, i = 0; row < d->n_rows; row += LANE_TAPS) {
            struct chunk chunk = make_chunk(d, row);
            size_t at = part.first * d->pixel_stride + channel;
            for (size_t k = 0; k < part.n_inputs; k++, at += d->column_stride)
                inputs[i++] = load_taps(d, &chunk, at, n);
        }
        convolve_part(d, &part, n_pixels, n);
    }
}

ALWAYS_INLINE void convolve(const struct int8_depthwise *d, size_t channel, const size_t n)
{
    if (d->n_columns == 3 && d->n >= 4) /* the stride is below 3 columns */
        convolve_3_columns(d, channel, n);
    else
        convolve_channels(d, channel, n);
}

/* Computes all channels. The last vector overlaps the one before, so that it is full. */
static void depthwise(const struct int8_depthwise *d)
{
    size_t channel = 0;
    for (; channel < d->n_channels && d->n_channels >= VECTOR_LANES; channel += VECTOR_LANES) {
        size_t last = d->n_channels - VECTOR_LANES;
        convolve(d, channel < last ? channel : last, VECTOR_LANES);
    }
    if (channel == 0 && VECTOR_LANES > 8 && d->n_channels == 8)
        convolve(d, 0, 8);
    else if (channel == 0)
        convolve_channels(d, 0, d->n_channels);
}
