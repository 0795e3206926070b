/* Reads the attributes of sliding windows (convolutions, poolings, Col2Im) and computes their pads
 * and output sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_WINDOW_H
#define IRRUN_OPS_WINDOW_H

#include "kernels/sliding_window.h"
#include "ops/op.h"

enum auto_pad {
    AUTO_PAD_EXPLICIT,
    AUTO_PAD_NOTSET,
    AUTO_PAD_SAME_UPPER,
    AUTO_PAD_SAME_LOWER,
    AUTO_PAD_VALID
};
enum rounding { ROUNDING_FLOOR, ROUNDING_CEIL, ROUNDING_CEIL_TORCH };

/* The first member of the attributes of an op. Attributes that the op does not have are zero. */
struct window_attrs {
    struct i64_list strides, dilations, pads_begin, pads_end; /* empty: all 1 or 0 */
    struct i64_list kernel;                                   /* for poolings */
    int auto_pad, rounding_type;
};

/* The attributes of MaxPool and AvgPool. */
struct pool_attrs {
    struct window_attrs window;
    int64_t axis; /* MaxPool: indices count the elements of dimensions from this one on */
    enum irrun_dtype index_element_type;
    bool exclude_pad;
    bool channels_last; /* in the input and the output; MaxPool without indices only */
};

/* The attributes of ConvolutionBackpropData and GroupConvolutionBackpropData. */
struct backprop_attrs {
    struct window_attrs window;
    struct i64_list output_padding;
};

#define WINDOW_ATTRS(type)                                                                         \
    ATTR_NAMED(type, window.strides, "strides", NULL),                                             \
        ATTR_NAMED(type, window.pads_begin, "pads_begin", NULL),                                   \
        ATTR_NAMED(type, window.pads_end, "pads_end", NULL),                                       \
        ATTR_CHOICE_NAMED(type, window.auto_pad, "auto_pad", "explicit",                           \
                          "explicit|notset|same_upper|same_lower|valid")

/* Computes the window for a kernel over `rank` (1 to 3) spatial dimensions `in`. Attributes that
 * are empty lists mean strides and dilations of 1, and pads of 0. Negative pads crop; an op that
 * does not allow them calls infer_window_list for its pads first. */
bool infer_window(struct infer *infer, const struct window_attrs *attrs, uint32_t rank,
                  const int64_t *in, const int64_t *kernel, struct window *window);

/* Like infer_window, but ignores auto_pad, takes the pads from the attributes, and sets no output
 * sizes. */
bool infer_window_attrs(struct infer *infer, const struct window_attrs *attrs, uint32_t rank,
                        const int64_t *in, const int64_t *kernel, struct window *window);

/* Reads an attribute of `rank` numbers, each at least `lowest`, into the last elements of `out`.
 * The elements before them, or all if the list is empty, become `neutral`. */
bool infer_window_list(struct infer *infer, const char *name, const struct i64_list *list,
                       uint32_t rank, int64_t lowest, int64_t neutral, int64_t out[3]);

#endif
