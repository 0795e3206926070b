/* The kernels of quantize.h, compiled for each CPU level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/quantize.h"

#include <stdbool.h>

#include "kernels/vector_integer.h"

/* Dequantizes codes. */
ALWAYS_INLINE vec dequantize(const struct quantization *q, vec code)
{
    vec y = vec_add(vec_mul(code, vec_set1(q->scale)), vec_set1(q->out_low));
    return vec_select(vec_equal(code, vec_set1(q->last)), vec_set1(q->out_high), y);
}

ALWAYS_INLINE vec fake_quantize(const struct quantization *q, vec x)
{
    vec code = vec_round(vec_mul(vec_sub(x, vec_set1(q->in_low)), vec_set1(q->inverse_scale)));
    vec y =
        vec_select(vec_greater(x, vec_set1(q->high)), vec_set1(q->out_high), dequantize(q, code));
    return vec_select(vec_less_equal(x, vec_set1(q->low)), vec_set1(q->out_low), y);
}

static void fake(const struct quantization *q, const float *x, float *out, size_t n)
{
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vec_store(out + i, fake_quantize(q, vec_load(x + i)));
    if (i < n)
        vec_store_first(out + i, fake_quantize(q, vec_load_first(x + i, n - i)), n - i);
}

ALWAYS_INLINE vec_i32 quantize_in_range(vec in_low, vec inverse_scale, vec last, vec x)
{
    vec code = vec_mul(vec_sub(x, in_low), inverse_scale);
    return vec_round_to_i32(vec_min(vec_max(code, vec_zero()), last));
}

ALWAYS_INLINE vec_i32 quantize(const struct quantization *q, vec x)
{
    return quantize_in_range(vec_set1(q->in_low), vec_set1(q->inverse_scale), vec_set1(q->last), x);
}

/* Quantizes up to four channels, from `channel` on, of n pixels, at most a vector of pixels. Each
 * 32-bit lane collects the bytes of one pixel. */
ALWAYS_INLINE void quantize_lanes(const struct channel_ranges *ranges, size_t channel,
                                  const float *x, size_t x_stride, uint8_t *out, size_t pixel_bytes,
                                  const size_t n_channels, size_t n)
{
    vec_i32 all = {0};
    int32_t pixels[VECTOR_LANES];
    for (size_t c = 0; c < n_channels; c++) {
        const float *from = x + (channel + c) * x_stride;
        all |= quantize(range_of(ranges, channel + c), vec_load_n(from, n)) << (int)(8 * c);
    }
    memcpy(pixels, &all, sizeof all);
    out += channel;
    size_t i = 0;
    for (; n_channels == 3 && pixel_bytes == 3 && i + 1 < n; i++)
        memcpy(out + i * pixel_bytes, &pixels[i], 4); /* the next pixel overwrites the 4th byte */
    for (; i < n; i++)
        memcpy(out + i * pixel_bytes, &pixels[i], n_channels);
}

/* Quantizes one channel. */
static void plane_to_u8(const struct quantization *q, const float *x, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vec_i32_store_u8(out + i, quantize(q, vec_load(x + i)));
    if (i < n)
        vec_i32_store_u8_first(out + i, quantize(q, vec_load_first(x + i, n - i)), n - i);
}

static void to_u8(const struct channel_ranges *ranges, const float *x, size_t x_stride,
                  uint8_t *out, size_t n_channels, size_t n)
{
    if (n_channels == 1) {
        plane_to_u8(ranges->all, x, out, n);
        return;
    }
    for (size_t i = 0; i < n; i += VECTOR_LANES) {
        size_t left = n - i < VECTOR_LANES ? n - i : VECTOR_LANES, c = 0;
        uint8_t *pixels = out + i * n_channels;
        for (; c + 4 <= n_channels; c += 4)
            quantize_lanes(ranges, c, x + i, x_stride, pixels, n_channels, 4, left);
        if (n_channels - c == 3)
            quantize_lanes(ranges, c, x + i, x_stride, pixels, n_channels, 3, left);
        else
            for (; c < n_channels; c++)
                quantize_lanes(ranges, c, x + i, x_stride, pixels, n_channels, 1, left);
    }
}

/* One vector from each array of struct column_levels. */
struct levels {
    vec in_low, inverse_scale, last, slopes;
};

ALWAYS_INLINE vec_i32 load_quantized(const struct levels *levels, bool has_slopes, const float *x,
                                     size_t n)
{
    vec y = vec_load_n(x, n);
    if (has_slopes)
        y = vec_select(vec_less(y, vec_zero()), vec_mul(y, levels->slopes), y);
    return quantize_in_range(levels->in_low, levels->inverse_scale, levels->last, y);
}

/* Quantizes n_columns columns, at most a vector, of all rows. n is the row length. */
ALWAYS_INLINE void column_to_u8(const struct levels *levels, const bool has_slopes, const float *x,
                                uint8_t *out, size_t n_rows, size_t n, size_t n_columns)
{
    size_t row = 0;
#ifdef VECTOR_HAS_STORE_U8_ROWS
    for (; n_columns == VECTOR_LANES && row + 4 <= n_rows; row += 4) {
        vec_i32 codes[4];
        void *to[4];
        UNROLL
        for (size_t r = 0; r < 4; r++) {
            codes[r] = load_quantized(levels, has_slopes, x + (row + r) * n, VECTOR_LANES);
            to[r] = out + (row + r) * n;
        }
        vec_i32_store_u8_rows(to, codes, 4);
    }
#endif
    for (; row < n_rows; row++)
        vec_i32_store_u8_first(
            out + row * n, load_quantized(levels, has_slopes, x + row * n, n_columns), n_columns);
}

/* Quantizes rows of any length. The last vector of a row overlaps the one before, so that it is
 * full. */
static void long_rows_to_u8(const struct column_levels *levels, const float *x, uint8_t *out,
                            size_t n_rows, size_t n)
{
    for (size_t next = 0; next < n; next += VECTOR_LANES) {
        size_t left = n < VECTOR_LANES ? n : VECTOR_LANES, i = next + left > n ? n - left : next;
        struct levels column = {vec_load_n(levels->in_low + i, left),
                                vec_load_n(levels->inverse_scale + i, left),
                                vec_load_n(levels->last + i, left), vec_zero()};
        if (levels->slopes) {
            column.slopes = vec_load_n(levels->slopes + i, left);
            column_to_u8(&column, true, x + i, out + i, n_rows, n, left);
        } else {
            column_to_u8(&column, false, x + i, out + i, n_rows, n, left);
        }
    }
}

static void rows_to_u8(const struct column_levels *levels, const float *x, uint8_t *out,
                       size_t n_rows, size_t n)
{
    size_t n_whole = n_rows * n / VECTOR_LANES, i = n_whole * VECTOR_LANES;
    if (n >= VECTOR_LANES || n == 0 || VECTOR_LANES % n != 0 || n_whole == 0) {
        long_rows_to_u8(levels, x, out, n_rows, n);
        return;
    }
    float lanes[4][VECTOR_LANES]; /* the parameters of several rows side by side */
    for (size_t lane = 0; lane < VECTOR_LANES; lane++) {
        lanes[0][lane] = levels->in_low[lane % n];
        lanes[1][lane] = levels->inverse_scale[lane % n];
        lanes[2][lane] = levels->last[lane % n];
        lanes[3][lane] = levels->slopes ? levels->slopes[lane % n] : 0;
    }
    const struct column_levels all = {lanes[0], lanes[1], lanes[2],
                                      levels->slopes ? lanes[3] : NULL};
    long_rows_to_u8(&all, x, out, n_whole, VECTOR_LANES);
    long_rows_to_u8(levels, x + i, out + i, n_rows - i / n, n);
}

/* Does the inverse of quantize_lanes for n pixels. */
ALWAYS_INLINE void dequantize_lanes(const struct channel_ranges *ranges, size_t channel,
                                    const uint8_t *x, size_t pixel_bytes, float *out,
                                    size_t out_stride, const size_t n_channels, const size_t n)
{
    vec_i32 all = {0};
    UNROLL
    for (size_t i = 0; i < n; i++) {
        int32_t pixel = 0;
        memcpy(&pixel, x + i * pixel_bytes + channel, n_channels);
        all[i] = pixel;
    }
    UNROLL
    for (size_t c = 0; c < n_channels; c++) {
        const struct quantization *q = range_of(ranges, channel + c);
        vec code = vec_of_i32((all >> (int)(8 * c)) & 255);
        vec_store_n(out + (channel + c) * out_stride, dequantize(q, code), n);
    }
}

ALWAYS_INLINE void dequantize_pixels(const struct channel_ranges *ranges, const uint8_t *x,
                                     float *out, size_t out_stride, size_t n_channels,
                                     const size_t n)
{
    size_t c = 0;
    for (; c + 4 <= n_channels; c += 4)
        dequantize_lanes(ranges, c, x, n_channels, out, out_stride, 4, n);
    for (; c < n_channels; c++)
        dequantize_lanes(ranges, c, x, n_channels, out, out_stride, 1, n);
}

static void from_u8(const struct channel_ranges *ranges, const uint8_t *x, float *out,
                    size_t out_stride, size_t n_channels, size_t n)
{
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        dequantize_pixels(ranges, x + i * n_channels, out + i, out_stride, n_channels,
                          VECTOR_LANES);
    for (; i < n; i++)
        dequantize_pixels(ranges, x + i * n_channels, out + i, out_stride, n_channels, 1);
}

/* Loads n bytes as floats; if the stride is 0, loads one byte into all lanes. */
ALWAYS_INLINE vec load_bytes(const uint8_t *x, size_t stride, size_t n)
{
    if (stride == 0)
        return vec_set1((float)*x);
    uint8_t bytes[VECTOR_LANES] = {0};
    if (n < VECTOR_LANES)
        x = memcpy(bytes, x, n);
    return vec_of_i32(vec_i32_load_u8(x));
}

ALWAYS_INLINE vec_i32 add_vector(const struct bytes_sum *sum, vec a, vec b)
{
    vec x = vec_add(vec_mul(a, vec_set1(sum->a_scale)), vec_mul(b, vec_set1(sum->b_scale)));
    x = vec_max(vec_add(x, vec_set1(sum->bias)), vec_set1(sum->low));
    return vec_round_to_i32(vec_min(x, vec_set1(sum->high)));
}

static void add_u8(const struct bytes_sum *sum, const uint8_t *a, size_t a_stride, const uint8_t *b,
                   size_t b_stride, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + VECTOR_LANES <= n; i += VECTOR_LANES)
        vec_i32_store_u8(out + i,
                         add_vector(sum, load_bytes(a + i * a_stride, a_stride, VECTOR_LANES),
                                    load_bytes(b + i * b_stride, b_stride, VECTOR_LANES)));
    if (i < n)
        vec_i32_store_u8_first(out + i,
                               add_vector(sum, load_bytes(a + i * a_stride, a_stride, n - i),
                                          load_bytes(b + i * b_stride, b_stride, n - i)),
                               n - i);
}

const struct quantize_kernels LEVEL_NAME(quantize, LEVEL) = {fake, to_u8, rows_to_u8, from_u8,
                                                             add_u8};
