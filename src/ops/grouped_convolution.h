/* What Convolution and its transpose share, grouped or not: channels, output and the walk over the
 * groups. Input 0 is the data, input 1 the filters.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_GROUPED_CONVOLUTION_H
#define IRRUN_OPS_GROUPED_CONVOLUTION_H

#include "ops/depthwise_op.h"
#include "ops/prepacked_convolution.h"
#include "ops/window.h"

struct convolution_attrs {
    struct window_attrs window;
    bool in_is_last, is_last; /* the channels of the input lie last, those of the output do; by a
                                 pass over the graph */
};

/* Computes one group of one batch element. `first` is the index of its first element of the
 * output. */
typedef void convolution_group_fn(const struct step *step, const void *in, const void *filters,
                                  void *out, size_t first);

/* What the state of such an op begins with. */
struct grouped_convolution {
    struct convolution one; /* of one group; the window of a transpose goes from output to input */
    int64_t n_batches, n_groups;
    bool is_transposed;
    convolution_fn *direct;
    convolution_group_fn *run_group;
    struct prepacked_convolution packed;
    bool is_depthwise; /* then by the plan that follows */
    struct depthwise depthwise;
};

/* Positions of a channel. */
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

/* Checks the ranks, and fills the groups and the channels of one group. Filters are
 * [groups][c_out][c_in][kernel], those of a transpose [groups][c_in][c_out][kernel]; [groups] is
 * there only if the op's family is 1. in_pixel and out_pixel are 1 before if the channels lie
 * last. */
bool convolution_infer_channels(struct infer *infer, bool is_transposed);

/* Sets the output, which has the spatial sizes of the window, and then aligns the window. */
bool convolution_infer_output(struct infer *infer);

/* Calls prepacked_convolution_is_wanted with the op's state. */
bool convolution_wants_indirect(const struct prepare *prepare, struct indirect_convolution *conv);

/* Whether the depthwise kernels may run it; its filters are then not prepacked. */
bool convolution_wants_depthwise(const struct prepare *prepare);

/* Finds the direct loops, plans a depthwise convolution if it is one, and says how a bias
 * repeats. */
bool convolution_prepare(struct prepare *prepare, convolution_group_fn *run_group);

/* Implements op_def.run: computes all batch elements by the depthwise plan, with the packed
 * filters, or by run_group for all groups. */
bool convolution_run(const struct step *step, struct irrun_error *err);

/* Implements op_def.flops, also for transposed convolutions. */
double convolution_flops(const struct op *op, struct irrun_tensor *const *in,
                         struct irrun_tensor *const *out);

#define CONVOLUTION_OP(object, type_, n_group_dims, attrs_type, state_type)                        \
    const struct op_def object = {                                                                 \
        .type = type_,                                                                             \
        .opset = 1,                                                                                \
        .inputs = inputs,                                                                          \
        .n_outputs = 1,                                                                            \
        .attrs = attr_table,                                                                       \
        .attrs_size = sizeof(attrs_type),                                                          \
        .state_size = sizeof(state_type),                                                          \
        .family = &(const uint32_t){n_group_dims},                                                 \
        .infer = infer,                                                                            \
        .prepacks = prepacks,                                                                      \
        .prepare = prepare,                                                                        \
        .run = convolution_run,                                                                    \
        .flops = convolution_flops,                                                                \
    }

#endif
