/* Ops between which values are bytes, that no IR file names: plan/int8_convolutions.h puts them in
 * the place of FakeQuantize, Convolution and MatMul. Bytes that are convolved lie with the channels
 * last, [N,H,W,C]; values of f32 as ever, [N,C,H,W].
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INT8_OPS_H
#define IRRUN_OPS_INT8_OPS_H

#include "kernels/gemm_int8.h"
#include "kernels/quantize.h"
#include "ops/int8_borders.h"
#include "ops/window.h"

/* Of the two that follow: what a byte stands for, and whether the channels of bytes lie last where
 * those of f32 are dimension 1. */
struct bytes_attrs {
    struct quantization quantization;
    bool moves_channels;
};

extern const struct op_def op_to_bytes;   /* f32, or i8 or u8 of the same value, to u8 */
extern const struct op_def op_from_bytes; /* u8 to f32 */

/* A convolution of bytes, of all channels or channel by channel, with what followed it. The
 * lists have an element for every channel of all groups of INT8_GROUP. */
struct int8_convolution_attrs {
    struct window_attrs window;
    bool is_depthwise;
    int64_t kernel[2];
    size_t c_in, c_out;
    uint8_t zero; /* the byte that stands for 0, or that is nearest to it: pads */
    /* Neighbouring taps that are read together: rows of the kernel, or single taps. */
    size_t n_segments, segment_bytes;
    const int8_t *filters;       /* packed, rows [segments][whole quads] */
    const int16_t (*weights)[2]; /* of a depthwise one: [kernel][channels] */
    const int32_t *start;
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
