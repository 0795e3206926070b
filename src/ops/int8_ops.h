/* Internal ops that pass u8 tensors; no IR file can name them. plan/int8_convolutions.h replaces
 * FakeQuantize, Convolution and MatMul by them. u8 images have their channels last, [N,H,W,C]; f32
 * images are [N,C,H,W] as elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INT8_OPS_H
#define IRRUN_OPS_INT8_OPS_H

#include "kernels/gemm_int8.h"
#include "kernels/quantize.h"
#include "ops/int8_borders.h"
#include "ops/window.h"

/* Of the next two ops. moves_channels: u8 has its channels last, f32 in dimension 1. */
struct bytes_attrs {
    struct quantization quantization;
    bool moves_channels;
};

extern const struct op_def op_to_bytes;   /* f32, or i8 or u8 of the same value, to u8 */
extern const struct op_def op_from_bytes; /* u8 to f32 */

/* An int8 convolution, full or depthwise, with fused requantization. Lists have an element for
 * every output channel, rounded up to blocks of INT8_GROUP. */
struct int8_convolution_attrs {
    struct window_attrs window;
    bool is_depthwise;
    int64_t kernel[2];
    size_t c_in, c_out;
    uint8_t zero; /* the zero point, or the level nearest to 0: the value of pads */
    /* Neighbouring taps that are read together: rows of the kernel, or single taps. */
    size_t n_segments, segment_bytes;
    const int8_t *filters;       /* packed, rows [segments][whole quads] */
    const int16_t (*weights)[2]; /* of a depthwise one: [kernel][channels] */
    const int32_t *start;        /* initial accumulators */
    struct border_terms border;
    enum int8_result to; /* INT8_TO_U8 or INT8_TO_F32 */
    struct requantization requantization;
    uint32_t rank_min; /* of the result of a product; dimensions of 1 are put in front */
};

extern const struct op_def op_int8_convolution; /* u8 to u8 or f32 */
extern const struct op_def op_int8_matmul;      /* the same of rows, [..., c_in] to [..., c_out] */

/* MaxPool of bytes, [N,H,W,C]. Attributes: struct window_attrs. Pads take no part. */
extern const struct op_def op_int8_max_pool;

#endif
