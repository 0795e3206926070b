/* Matches a convolution or a product between FakeQuantizes that one int8 op can replace.
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
    struct quantize_u8_attrs in_format, out_format; /* as u8 */
    bool is_depthwise, has_out_format;
    size_t n_groups;              /* of channels */
    uint32_t n_spatial;           /* spatial dimensions of the image; 0 for a product */
    bool is_small;                /* by its shape in the XML, the image has few pixels */
    double clamp_low, clamp_high; /* bounds of a ReLU or Clamp */
    /* Operands of a Multiply and an Add between the Clamp and the FakeQuantize: one number, or one
     * for each channel. No factor is 0. NULL: none. */
    const struct irrun_tensor *factors, *shifts;
    bool is_last;        /* a Transpose moves the channels of the f32 result to the end */
    bool has_activation; /* before the FakeQuantize */
    enum unary_operation activation;
    const struct irrun_tensor *slopes; /* of PReLU, one or one for each channel, or NULL */
    size_t n_column_taps;              /* n_taps of int8_weights_find */
    size_t enlarge[2];                 /* factors of the height and width of the image: 1, or the
                                        * strides of a transposed convolution */
    /* [c_out][c_in][y][x] of one group, where y is 1 if the image has one dimension; of a product
     * [n][k][1][1]. */
    struct irrun_shape filters;
    struct int8_weights weights;
    const struct irrun_tensor *bias; /* NULL: none */
    uint32_t out;                    /* the last value that the op computes */
};

static inline bool int8_is_transposed_convolution(const struct op *op)
{
    return op_is_type(op, "ConvolutionBackpropData");
}

/* Sets the filters, the groups, the window and the dimensions of the match from its op and the
 * shape of the constant, which is NULL if there is none. Returns NULL, or the reason why the op
 * cannot run in integers. */
const char *int8_match_filters(struct int8_match *match, const struct irrun_shape *shape);

/* Divides the taps into segments. The taps of a row of the kernel are one segment if they are
 * adjacent and have all channels; otherwise each tap is a segment. */
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

/* Returns the attributes of the Multiply of an image by computed factors; NULL with *err filled on
 * failure. The match has an in_format, an out_format, and a weight of 1 for each channel. */
const struct int8_scale_attrs *int8_match_scale(const struct int8_match *match, size_t lane_taps,
                                                struct arena *arena, struct irrun_error *err);

/* Returns the attributes of the Add of two u8 values with the ranges a and b; NULL with *err filled
 * on failure. The match has an out_format. */
const struct bytes_sum *int8_match_sum(const struct int8_match *match, const struct quantization *a,
                                       const struct quantization *b, struct arena *arena,
                                       struct irrun_error *err);

#endif
