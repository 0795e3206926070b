/* Internal ops on u8 tensors; IR files do not contain them. plan/int8_convolutions.c
 * replaces FakeQuantize, Convolution and MatMul with them. u8 images have the channels last,
 * [N,H,W,C] or [N,W,C]; f32 images are [N,C,H,W] or [N,C,W] as elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INT8_OPS_H
#define IRRUN_OPS_INT8_OPS_H

#include <string.h>

#include "kernels/elementwise.h"
#include "kernels/gemm_int8.h"
#include "kernels/quantize.h"
#include "ops/int8_borders.h"
#include "ops/window.h"

/* The attributes of the next two ops. n_spatial is the number of spatial dimensions of an image, 1
 * or 2: the ops convert between channels first in f32 and channels last in u8. If n_spatial is 0,
 * they keep the order, and there is one range. */
struct quantize_u8_attrs {
    struct channel_ranges ranges;
    uint32_t n_spatial;
};

extern const struct op_def op_quantize_u8;   /* f32, i8 or u8 numbers to u8 codes */
extern const struct op_def op_dequantize_u8; /* u8 to f32 */

/* An int8 convolution, full, grouped or depthwise, with fused requantization. Arrays with an
 * element for each output channel are padded to whole groups of INT8_GROUP. */
struct int8_convolution_attrs {
    struct window_attrs window;
    bool is_depthwise;
    uint32_t n_spatial; /* dimensions of the image: 1 or 2 */
    int64_t kernel[2];
    /* Upsampling factors of a transposed convolution whose taps do not overlap; otherwise {1, 1}.
     * The product has enlarge[0] * enlarge[1] * channels columns (= c_out) for each input pixel, in
     * this order. */
    size_t enlarge[2];
    /* The number of neighbouring pixels of an output row that one row of the product computes. This
     * row has n_joined * channels columns (= c_out), in this order, and reads the taps of all
     * joined pixels. */
    size_t n_joined;
    size_t c_in, c_out, group_c_in; /* group_c_in: input channels that one filter reads */
    const uint8_t *zeros; /* [c_in]: bytes of a pad: zero points, or the levels nearest to 0 */
    /* A segment is a sequence of taps that is read at once: a single tap, or a row of the kernel
     * with all taps that the joined pixels read in this row. */
    size_t n_segments, segment_bytes;
    /* The first input channel of each packed group of filters. NULL: all filters read all input
     * channels. */
    const uint32_t *offsets;
    const int16_t *winograd;          /* transformed filters, instead of `filters`; or NULL */
    const int8_t *filters;            /* packed; rows are [segments][quads of INT8_QUAD elements] */
    bool has_words;                   /* see struct int8_product */
    const struct int8_excess *excess; /* subtracted from the filters; NULL if none */
    const void *weights;              /* depthwise: see int8_tap_index */
    size_t tap_columns;               /* depthwise: 1, or the width of the kernel */
    const int32_t *start;             /* initial values of the sums */
    struct border_terms border;
    enum int8_result to; /* INT8_TO_U8 or INT8_TO_F32 */
    bool is_last;        /* f32 results have the channels last, like u8 results */
    struct requantization requantization;
    /* The sums are scaled to f32, the activation is computed, and its result is quantized to u8. */
    bool is_activated;
    enum unary_operation activation; /* not used for PReLU (levels.slopes) */
    struct column_levels levels;
    uint32_t rank_min; /* MatMul: the result gets leading dimensions of 1 up to this rank */
};

/* Returns the size in bytes of an element of operand A: the image, or the rows of a MatMul. */
static inline size_t int8_a_size(const struct int8_convolution_attrs *attrs)
{
    return attrs->has_words ? sizeof(uint16_t) : 1;
}

/* Copies n bytes, or widens them to n 16-bit words. */
static inline void int8_copy(const struct int8_kernels *kernels, bool as_words, const uint8_t *from,
                             size_t n, uint8_t *to)
{
    if (as_words)
        kernels->widen(n, from, (uint16_t *)(void *)to);
    else
        memcpy(to, from, n);
}

/* Returns the type to which the kernels convert the sums. */
static inline enum int8_result int8_sums_to(const struct int8_convolution_attrs *attrs)
{
    return attrs->is_activated ? INT8_TO_F32 : attrs->to;
}

extern const struct op_def op_int8_convolution; /* u8 to u8 or f32 */
extern const struct op_def op_int8_matmul;      /* u8 [..., c_in] to u8 or f32 [..., c_out] */

/* Add of u8. Attributes: struct bytes_sum. */
extern const struct op_def op_int8_add;

/* Multiply of a u8 image by f32 factors, with NumPy broadcasting, to u8. The code c and the factor
 * f become the code round((c * scale + offset) * f + bias), clamped to low ... high. A factor that
 * makes a term infinite gives the lowest level. The arrays have an element for each channel,
 * rounded up to whole groups. */
struct int8_scale_attrs {
    uint32_t n_spatial;
    size_t n_channels;
    struct requantization requantization;
    const float *offset;
    const void *ones;     /* weights of 1; see int8_tap_index */
    const int32_t *start; /* zeros */
};
extern const struct op_def op_int8_scale;

/* ReduceMax of u8 images over all pixels, to u8, and ReduceMean, to f32 with the channels first. */
struct int8_reduce_attrs {
    bool is_mean, keep_dims;
    struct channel_ranges ranges; /* is_mean only */
};
extern const struct op_def op_int8_reduce_max, op_int8_reduce_mean;

/* MaxPool of u8 images. Attributes: struct window_attrs. Elements in pads are ignored. */
extern const struct op_def op_int8_max_pool;

/* Pad of u8, with the data, pads_begin and pads_end as inputs. Attributes: struct pad_attrs. */
extern const struct op_def op_int8_pad;

#endif
