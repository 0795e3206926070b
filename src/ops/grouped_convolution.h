/* Infers, prepares and runs Convolution and ConvolutionBackpropData, grouped or not. Input 0 is the
 * data, input 1 the filters.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_GROUPED_CONVOLUTION_H
#define IRRUN_OPS_GROUPED_CONVOLUTION_H

#include "kernels/row_chain.h"
#include "ops/depthwise_op.h"
#include "ops/prepacked_convolution.h"
#include "ops/window.h"

struct convolution_attrs {
    struct window_attrs window;
    bool in_channels_last, out_channels_last; /* set by plan/channels_last.c */
};

/* Computes one group of one batch element. `first` is the index of out[0] in the whole output. */
typedef void convolution_group_fn(const struct step *step, const void *in, const void *filters,
                                  void *out, size_t first);

/* The first member of the state of a convolution. */
struct grouped_convolution {
    struct convolution one; /* one group; if transposed, window.in is its output */
    int64_t n_batches, n_groups;
    bool is_transposed;
    convolution_fn *direct;
    convolution_group_fn *run_group;
    struct prepacked_convolution packed;
    bool is_depthwise; /* then `depthwise` is used */
    struct depthwise depthwise;
    struct row_op rows;
};

/* Return the number of positions in a channel of the input and of the output. */
static inline int64_t convolution_n_in(const struct grouped_convolution *grouped)
{
    const struct window *window = &grouped->one.window;
    return window_product(grouped->is_transposed ? window->out : window->in);
}
static inline int64_t convolution_n_out(const struct grouped_convolution *grouped)
{
    const struct window *window = &grouped->one.window;
    return window_product(grouped->is_transposed ? window->in : window->out);
}

/* Checks the ranks, and sets the groups and the channels of one group. Filters are
 * [groups][c_out][c_in][kernel], or [groups][c_in][c_out][kernel] if transposed. [groups] is
 * present only if the op's family is 1. For channels last, the caller has set in_pixel_stride and
 * out_pixel_stride to 1. */
bool convolution_infer_channels(struct infer *infer, bool is_transposed);

/* Sets the shape of the output from the window, and then calls window_align. channels_last: the
 * output has the channels last. */
bool convolution_infer_output(struct infer *infer, bool channels_last);

/* Calls prepacked_convolution_is_wanted with the op's state. */
bool convolution_wants_indirect(const struct prepare *prepare, struct indirect_convolution *conv);

/* Returns whether the depthwise kernels may run the op. They read filters that are not packed,
 * unless the channels are last. */
bool convolution_wants_depthwise(const struct prepare *prepare);

/* Returns whether the depthwise kernels may run the op and need packed filters. */
bool convolution_wants_packed_depthwise(const struct prepare *prepare);

/* Chooses the direct loops, plans the depthwise kernels if they run the op, packs the filters if
 * they are a prepacked input, and describes how a bias repeats over the output. */
bool convolution_prepare(struct prepare *prepare, convolution_group_fn *run_group);

/* Implements op_def.run: runs all batch elements with the depthwise kernels, with packed filters,
 * or with run_group for each group. */
bool convolution_run(const struct step *step, struct irrun_error *err);

/* Implements op_def.flops, also for transposed convolutions. */
double convolution_flops(const struct op *op, struct irrun_tensor *const *in,
                         struct irrun_tensor *const *out);

#define CONVOLUTION_OP(object, type_, n_group_dims, flags_, attrs_type, state_type)                \
    const struct op_def object = {                                                                 \
        .type = type_,                                                                             \
        .opset = 1,                                                                                \
        OP_INPUTS(inputs),                                                                         \
        OP_ATTRS(attr_table, attrs_type),                                                          \
        .state_size = sizeof(state_type),                                                          \
        .family = &(const uint32_t){n_group_dims},                                                 \
        .flags = (flags_),                                                                         \
        .rounded_inputs = (flags_)&OP_MULTIPLIES_BF16 ? 1 << 1 : 0,                                \
        .infer = infer,                                                                            \
        .prepacks = prepacks,                                                                      \
        .prepare = prepare,                                                                        \
        .run = convolution_run,                                                                    \
        .flops = convolution_flops,                                                                \
    }

#endif
