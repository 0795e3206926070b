/* Quantisation that stays among floating-point numbers. Knows no shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_FAKE_QUANTIZE_H
#define IRRUN_KERNELS_FAKE_QUANTIZE_H

#include <stddef.h>
#include <stdint.h>

#include "irrun.h"

/* Each pointer advances by its stride (0 or 1) from one element to the next; out by 1. */
struct fake_quantize_run {
    size_t n;
    int64_t levels;
    const void *x, *in_low, *in_high, *out_low, *out_high;
    size_t x_stride, in_low_stride, in_high_stride, out_low_stride, out_high_stride;
    void *out; /* may be one of the others, element for element */
};

/* x up to the lower of in_low and in_high becomes out_low, x above the higher of them out_high;
 * between them x is brought to the nearest of `levels` equidistant numbers (a tie to the even one),
 * and then to the scale of the output. NaN stays NaN. */
typedef void fake_quantize_fn(const struct fake_quantize_run *run);
fake_quantize_fn *fake_quantize_scalar(enum irrun_dtype dtype);

#endif
