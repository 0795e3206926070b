/* Quantization of f32 by one range: to the nearest of `levels` numbers, as FakeQuantize does, or to
 * the number of that level as a byte, and back. Knows no shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_QUANTIZE_H
#define IRRUN_KERNELS_QUANTIZE_H

#include <stddef.h>
#include <stdint.h>

/* Number i of the levels, from 0, stands for i * scale + out_low; x becomes number
 * round((x - in_low) * inverse_scale). */
struct quantization {
    float low, high; /* x up to low becomes out_low, above high out_high */
    float in_low, inverse_scale, scale, out_low, out_high;
    float last; /* the number of the last level */
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

struct quantize_kernels {
    /* out may be x. NaN stays NaN. */
    void (*fake)(const struct quantization *q, const float *x, float *out, size_t n);
    /* Quantizes n_channels planes of n floats, x_stride elements apart, to n pixels, channels last.
     * At most 256 levels, in_low below in_high; NaN becomes 0. */
    void (*to_u8)(const struct quantization *q, const float *x, size_t x_stride, uint8_t *out,
                  size_t n_channels, size_t n);
    /* The inverse. */
    void (*from_u8)(const struct quantization *q, const uint8_t *x, float *out, size_t out_stride,
                    size_t n_channels, size_t n);
};

#endif
