/* FakeQuantize: rounds floats to the levels of a quantized type.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_FAKE_QUANTIZE_H
#define IRRUN_KERNELS_FAKE_QUANTIZE_H

#include <stddef.h>
#include <stdint.h>

#include "irrun.h"

/* Arguments of fake_quantize_fn: n elements. From one element to the next, each input pointer
 * advances by its stride (0 or 1), and `out` by 1. */
struct fake_quantize_run {
    size_t n;
    int64_t levels;
    const void *x, *in_low, *in_high, *out_low, *out_high;
    size_t x_stride, in_low_stride, in_high_stride, out_low_stride, out_high_stride;
    void *out; /* may be an input whose stride is 1 */
};

/* Maps x <= min(in_low, in_high) to out_low, and x > max(in_low, in_high) to out_high. Rounds x in
 * between to the nearest of `levels` equidistant numbers (ties to even), and maps it to the output
 * range. NaN stays NaN. */
typedef void fake_quantize_fn(const struct fake_quantize_run *run);
fake_quantize_fn *fake_quantize_scalar(enum irrun_dtype dtype);

#endif
