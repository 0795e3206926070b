/* Replaces reductions of an image over its pixels, and Multiplies of an image by computed numbers,
 * one per channel, with ops on u8.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"
#include "plan/graph_ints.h"
#include "plan/int8_pass_internal.h"

/* Returns whether the axes of a reduction are the spatial dimensions. */
static bool reduces_pixels(const struct int8_pass *pass, const struct op *op, uint32_t n_spatial)
{
    int64_t axes[2], rank = 2 + (int64_t)n_spatial;
    uint32_t n;
    if (!graph_ints(pass->graph, op_input(pass->graph, op, 1), axes, 2, &n) || n != n_spatial)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        axes[i] += axes[i] < 0 ? rank : 0;
        if (axes[i] < 2 || axes[i] >= rank)
            return false;
    }
    return n == 1 || axes[0] != axes[1];
}

bool int8_replace_reduce(struct int8_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    uint32_t in = op_input(pass->graph, op, 0), out = op->first_output;
    const struct quantize_u8_attrs *format = int8_find_bytes(pass, in);
    bool is_mean = op_is_type(op, "ReduceMean");
    bool keep_dims = ((const struct reduce_attrs *)op->attrs)->keep_dims;
    if (!format || format->n_spatial == 0 || !reduces_pixels(pass, op, format->n_spatial) ||
        (!is_mean && format->ranges.n > 1))
        return true;
    struct int8_reduce_attrs *attrs = arena_alloc(pass->arena, sizeof *attrs, pass->err);
    const struct quantize_u8_attrs *kept =
        int8_keep_format(pass, &format->ranges, keep_dims ? format->n_spatial : 0);
    if (!attrs || !kept)
        return false;
    *attrs = (struct int8_reduce_attrs){is_mean, keep_dims, format->ranges};
    uint32_t added = int8_add_op(pass, is_mean ? &op_int8_reduce_mean : &op_int8_reduce_max, attrs,
                                 op_id, pass->u8_images[in]);
    if (is_mean)
        graph_edit_take_over(&pass->edit, added, out);
    else
        int8_take_over(pass, out, added, kept);
    return true;
}

/* Returns whether, according to its shape in the XML, a value holds one number per image, or one
 * per channel of each image. Other shapes at run time give correct results, but are slow. */
static bool is_for_images(const struct value *value, size_t n, uint32_t n_spatial)
{
    const int64_t *dims = value->dims_hint;
    return dims && value->rank_hint == 2 + n_spatial && (dims[1] == 1 || dims[1] == (int64_t)n) &&
           dims[2] == 1 && dims[1 + n_spatial] == 1;
}

bool int8_replace_scale(struct int8_pass *pass, uint32_t op_id, uint32_t image)
{
    const struct op op = pass->graph->ops[op_id];
    uint32_t in[2] = {op_input(pass->graph, &op, image), op_input(pass->graph, &op, 1 - image)};
    const struct quantize_u8_attrs *format = int8_find_bytes(pass, in[0]);
    uint32_t n_spatial = format->n_spatial;
    size_t n = int8_count_channels(pass, in[0], n_spatial);
    if (n == 0 || !is_for_images(&pass->graph->values[in[1]], n, n_spatial))
        return true;
    struct int8_match match = {
        .in_format = *format, .n_spatial = n_spatial, .out = op.first_output};
    int8_match_following_ops(pass, &match);
    if (!match.has_out_format)
        return pass->err->code == IRRUN_OK;
    int8_t *ones = arena_alloc(pass->finder.arena, n, pass->err);
    if (!ones)
        return false;
    memset(ones, 1, n);
    match.weights = (struct int8_weights){n, 1, ones, NULL};
    const struct int8_scale_attrs *attrs =
        int8_match_scale(&match, pass->finder.kernels.gemm_int8->lane_taps, pass->arena, pass->err);
    const struct quantize_u8_attrs *out =
        int8_keep_format(pass, &match.out_format.ranges, n_spatial);
    if (!attrs || !out)
        return false;
    in[0] = pass->u8_images[in[0]];
    pass->images[match.out] = (struct int8_image){n, n_spatial};
    int8_take_over(pass, match.out,
                   graph_edit_add(&pass->edit, &op_int8_scale, attrs, &op, in, 2, 1), out);
    return true;
}
