/* Quantizes f32 to the nearest of `levels` numbers, as FakeQuantize does, or to the index of this
 * number as a byte (its code), and converts codes back to f32.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_QUANTIZE_H
#define IRRUN_KERNELS_QUANTIZE_H

#include <stddef.h>
#include <stdint.h>

/* Code i means i * scale + out_low; the last code means out_high. The code of x is
 * round((x - in_low) * inverse_scale). */
struct quantization {
    float low, high; /* x <= low becomes out_low, and x > high becomes out_high */
    float in_low, inverse_scale, scale, out_low, out_high;
    float last; /* the last code, levels - 1 */
};

static inline struct quantization quantization_of(float in_low, float in_high, float out_low,
                                                  float out_high, int64_t levels)
{
    double last = (double)(levels - 1);
    return (struct quantization){
        .low = in_high < in_low ? in_high : in_low,
        .high = in_high < in_low ? in_low : in_high,
        .in_low = in_low,
        .inverse_scale = (float)(last / ((double)in_high - (double)in_low)),
        .scale = (float)(((double)out_high - (double)out_low) / last),
        .out_low = out_low,
        .out_high = out_high,
        .last = (float)last,
    };
}

/* The quantizations of all channels, or one for all. */
struct channel_ranges {
    const struct quantization *all;
    size_t n; /* 1: one quantization for all channels */
};

static inline const struct quantization *range_of(const struct channel_ranges *ranges,
                                                  size_t channel)
{
    return &ranges->all[ranges->n > 1 ? channel : 0];
}

/* The quantizations of the columns of a matrix, with members as in struct quantization. Unless
 * `slopes` is NULL, numbers below 0 are first multiplied by the slope of their column. */
struct column_levels {
    const float *in_low, *inverse_scale, *last, *slopes;
};

/* Maps two bytes to round(a * a_scale + b * b_scale + bias), clamped to low ... high. */
struct bytes_sum {
    float a_scale, b_scale, bias, low, high;
};

struct quantize_kernels {
    /* Quantizes to f32. out may be x. NaN stays NaN. */
    void (*fake)(const struct quantization *q, const float *x, float *out, size_t n);
    /* Quantizes n_channels planes of n floats, x_stride elements apart, to codes of n pixels with
     * the channels last. Requires at most 256 levels and in_low < in_high. NaN becomes code 0. */
    void (*to_u8)(const struct channel_ranges *ranges, const float *x, size_t x_stride,
                  uint8_t *out, size_t n_channels, size_t n);
    /* Quantizes n_rows contiguous rows of n numbers as to_u8 does. */
    void (*rows_to_u8)(const struct column_levels *levels, const float *x, uint8_t *out,
                       size_t n_rows, size_t n);
    /* Does the inverse of to_u8. */
    void (*from_u8)(const struct channel_ranges *ranges, const uint8_t *x, float *out,
                    size_t out_stride, size_t n_channels, size_t n);
    /* Adds n pairs of bytes. A stride is 1, or 0 to repeat one byte. */
    void (*add_u8)(const struct bytes_sum *sum, const uint8_t *a, size_t a_stride, const uint8_t *b,
                   size_t b_stride, uint8_t *out, size_t n);
};

#endif
