/* Describes a convolution or product between FakeQuantizes that one int8 op replaces, and computes
 * the attributes and packed weights of this op.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_INT8_MATCH_H
#define IRRUN_PLAN_INT8_MATCH_H

#include "ops/int8_ops.h"
#include "plan/int8_weights.h"

/* The ops that one int8 op replaces. */
struct int8_match {
    const struct op *op;
    const struct window_attrs *window;              /* NULL for a product */
    uint32_t in;                                    /* the result of a FakeQuantize */
    struct quantize_u8_attrs in_format, out_format; /* quantization to u8 */
    bool is_depthwise, has_out_format;
    size_t n_groups;              /* groups of channels */
    uint32_t n_spatial;           /* spatial dimensions of the image; 0 for a product */
    bool is_small;                /* the image has few pixels, by its shape in the XML */
    double clamp_low, clamp_high; /* bounds of a ReLU or Clamp */
    /* Constant inputs of a Multiply and an Add between the Clamp and the FakeQuantize: one number,
     * or one per channel. No multiplier is 0. NULL: the op is absent. */
    const struct irrun_tensor *multipliers, *shifts;
    bool out_channels_last; /* a Transpose moves the channels of the f32 result to the end */
    bool has_activation;    /* an activation precedes the FakeQuantize */
    enum unary_operation activation;
    const struct irrun_tensor *slopes; /* of PReLU: one, or one per channel; NULL: no PReLU */
    size_t n_column_taps;              /* argument n_taps of int8_weights_find */
    size_t enlarge[2];                 /* upscaling of the image's height and width: 1, or the
                                        * strides of a transposed convolution */
    /* The shape of the filters of one group, [c_out][c_in][height][width]; the height is 1 if the
     * image has one dimension. For a product [n][k][1][1]. */
    struct irrun_shape filters;
    struct int8_weights weights;
    const struct irrun_tensor *bias; /* NULL: none */
    uint32_t out;                    /* the value that the int8 op computes */
};

static inline bool int8_is_transposed_convolution(const struct op *op)
{
    return op_is_type(op, "ConvolutionBackpropData");
}

/* Sets the filters, the groups, the window and the dimensions of the match from its op. shape: the
 * shape of the constant weights; NULL if the weights are not constant. Returns NULL, or the reason
 * why the op cannot run in integers. */
const char *int8_match_filters(struct int8_match *match, const struct irrun_shape *shape);

/* Divides the taps into segments. The taps of a row of the kernel are one segment if they are
 * adjacent and read all channels; otherwise each tap is a segment. */
bool int8_find_segments(const struct int8_match *match, struct int8_convolution_attrs *attrs,
                        struct arena *arena, struct irrun_error *err);

/* Packs the weights for the kernels. May change how many pixels a row of the product computes. */
bool int8_pack_weights(const struct int8_match *match, const struct int8_kernels *kernels,
                       struct int8_convolution_attrs *attrs, struct arena *arena,
                       struct irrun_error *err);

/* Packs the weights of a depthwise convolution, and sets attrs->tap_columns. */
bool int8_pack_taps(const struct int8_weights *w, struct int8_convolution_attrs *attrs,
                    size_t lane_taps, struct arena *arena, struct irrun_error *err);

/* Returns the attributes of the int8 op, in the arena; NULL with *err filled on failure. */
const struct int8_convolution_attrs *int8_match_attrs(const struct int8_match *match,
                                                      const struct int8_kernels *kernels,
                                                      struct arena *arena, struct irrun_error *err);

/* Returns the attributes of a Multiply of an image by computed numbers; NULL with *err filled on
 * failure. The match has an in_format, an out_format, and a weight of 1 per channel. */
const struct int8_scale_attrs *int8_match_scale(const struct int8_match *match, size_t lane_taps,
                                                struct arena *arena, struct irrun_error *err);

/* Returns the attributes of an Add of two u8 values with the ranges a and b; NULL with *err filled
 * on failure. The match has an out_format. */
const struct bytes_sum *int8_match_sum(const struct int8_match *match, const struct quantization *a,
                                       const struct quantization *b, struct arena *arena,
                                       struct irrun_error *err);

#endif
