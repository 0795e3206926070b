/* Checks whether the weights of a convolution or product suit an int8 op, and finds their
 * dimensions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/op_state.h"
#include "plan/int8_match.h"

/* Minimum number of output channels per group. With fewer, most packed weights would be padding. */
#define MIN_GROUP_CHANNELS 4

static const char *find_filters(struct int8_match *match, const struct irrun_shape *shape)
{
    /* Index of the dimension of output channels. In grouped filters, a dimension of groups precedes
     * it. */
    uint32_t first = op_is_type(match->op, "GroupConvolution") ? 1 : 0;
    if (!shape || shape->rank < first + 3 || shape->rank > first + 4)
        return "it does not have constant filters over one or two dimensions";
    match->n_groups = first > 0 ? (size_t)shape->dims[0] : 1;
    match->window = match->op->attrs;
    match->is_depthwise = first > 0 && shape->dims[1] == 1 && shape->dims[2] == 1;
    if (first > 0 && !match->is_depthwise && shape->dims[1] < MIN_GROUP_CHANNELS)
        return "its groups have fewer than 4 output channels";
    const int64_t *dims = shape->dims + first, *last = shape->dims + shape->rank - 1;
    match->n_spatial = shape->rank - first - 2;
    match->filters =
        shape_of(4, (const int64_t[]){dims[0], dims[1], match->n_spatial > 1 ? dims[2] : 1, *last});
    return NULL;
}

static const char *find_matrix(struct int8_match *match, const struct irrun_shape *shape)
{
    const struct matmul_attrs *attrs = match->op->attrs;
    if (!shape || shape->rank != 2 || attrs->transpose_a)
        return "it does not multiply rows by a constant matrix";
    match->n_column_taps = attrs->transpose_b ? 0 : 1;
    match->filters = shape_of(4, (const int64_t[]){shape->dims[!attrs->transpose_b],
                                                   shape->dims[attrs->transpose_b], 1, 1});
    return NULL;
}

/* Finds the filters of a transposed convolution whose taps do not overlap. The convolution is then
 * a product with a column for each tap and output channel. */
static const char *find_transposed(struct int8_match *match, const struct irrun_shape *shape)
{
    static const struct window_attrs unit = {0};
    const struct backprop_attrs *attrs = match->op->attrs;
    const struct window_attrs *window = &attrs->window;
    if (!shape || shape->rank < 3 || shape->rank > 4 || match->op->n_inputs != 2 ||
        window->auto_pad > AUTO_PAD_NOTSET || window->strides.n != shape->rank - 2 ||
        memcmp(window->strides.items, shape->dims + 2, window->strides.n * sizeof(int64_t)) != 0 ||
        !i64_list_is_all(&window->pads_begin, 0) || !i64_list_is_all(&window->pads_end, 0) ||
        !i64_list_is_all(&attrs->output_padding, 0) || !i64_list_is_all(&window->dilations, 1))
        return "its taps overlap, or are not constant";
    match->window = &unit;
    match->n_spatial = shape->rank - 2;
    match->enlarge[0] = match->n_spatial > 1 ? (size_t)shape->dims[2] : 1;
    match->enlarge[1] = (size_t)shape->dims[shape->rank - 1];
    match->n_column_taps = match->enlarge[0] * match->enlarge[1];
    if ((size_t)shape->dims[1] * match->enlarge[1] % INT8_GROUP != 0)
        return "the channels of its pixels do not fill vectors";
    match->filters = shape_of(
        4, (const int64_t[]){shape->dims[1] * (int64_t)match->n_column_taps, shape->dims[0], 1, 1});
    return NULL;
}

const char *int8_match_filters(struct int8_match *match, const struct irrun_shape *shape)
{
    return op_is_type(match->op, "MatMul")             ? find_matrix(match, shape)
           : int8_is_transposed_convolution(match->op) ? find_transposed(match, shape)
                                                       : find_filters(match, shape);
}
