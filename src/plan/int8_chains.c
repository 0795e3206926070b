/* Converts MaxPool, Concat and Add between int8 ops to u8.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"
#include "plan/int8_pass_internal.h"

bool int8_passes_on(const struct op *op)
{
    return op_is_type(op, "MaxPool") || op_is_type(op, "Concat") || op_is_type(op, "Add");
}

/* Returns the quantization of a value that exists as u8, or NULL. */
static const struct quantize_u8_attrs *find_bytes(const struct int8_pass *pass, uint32_t value_id)
{
    const struct op *op = value_producer(pass->graph, value_id);
    return op->def == &op_dequantize_u8 ? op->attrs : NULL;
}

/* Makes the output of `added` the u8 form of a value. f32 ops read it through a conversion. */
static void take_over(struct int8_pass *pass, uint32_t out, uint32_t added,
                      const struct quantize_u8_attrs *attrs)
{
    uint32_t op_id = pass->graph->values[out].op_id;
    uint32_t bytes = pass->graph->ops[added].first_output;
    pass->bytes[attrs->n_spatial > 0][out] = bytes;
    graph_edit_take_over(&pass->edit, int8_add_op(pass, &op_dequantize_u8, attrs, op_id, bytes),
                         out);
}

/* Returns whether a window can lie entirely behind the image, as the output size is rounded up. */
static bool may_exceed_end(const struct window_attrs *window)
{
    for (uint32_t d = 0; d < window->kernel.n && window->rounding_type != ROUNDING_FLOOR; d++) {
        int64_t stride = window->strides.n > d ? window->strides.items[d] : 1;
        int64_t pad = window->pads_end.n > d ? window->pads_end.items[d] : 0;
        if (stride > window->kernel.items[d] - pad)
            return true;
    }
    return false;
}

/* Returns whether no window lies entirely in the pads: u8 cannot represent its result. A dilated
 * window may have the whole input between two of its elements. */
static bool has_small_pads(const struct window_attrs *window)
{
    const struct i64_list *lists[] = {&window->pads_begin, &window->pads_end};
    bool has_pads =
        window->auto_pad == AUTO_PAD_SAME_UPPER || window->auto_pad == AUTO_PAD_SAME_LOWER;
    for (int side = 0; side < 2; side++)
        for (uint32_t d = 0; d < lists[side]->n; d++) {
            if (lists[side]->n != window->kernel.n || lists[side]->items[d] < 0 ||
                lists[side]->items[d] >= window->kernel.items[d])
                return false;
            has_pads |= lists[side]->items[d] > 0;
        }
    has_pads |= window->rounding_type != ROUNDING_FLOOR;
    for (uint32_t d = 0; d < window->dilations.n && has_pads; d++)
        if (window->dilations.items[d] != 1)
            return false;
    return !may_exceed_end(window);
}

static bool pass_on_max(struct int8_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    const struct window_attrs *window = op->attrs;
    uint32_t in = op_input(pass->graph, op, 0);
    const struct quantize_u8_attrs *attrs = find_bytes(pass, in);
    bool is_alone = op->n_outputs == 1 || pass->n_uses[op->first_output + 1] == 0;
    if (!attrs || attrs->n_spatial == 0 || !is_alone || window->kernel.n != attrs->n_spatial ||
        !has_small_pads(window))
        return true;
    uint32_t bytes = pass->bytes[1][in];
    take_over(pass, op->first_output, int8_add_op(pass, &op_int8_max_pool, window, op_id, bytes),
              attrs);
    return true;
}

/* Returns the dimension of the u8 value that corresponds to dimension `axis` of the f32 value, or
 * -1. */
static int64_t find_axis(int64_t axis, uint32_t n_spatial)
{
    int64_t rank = 2 + (int64_t)n_spatial;
    if (n_spatial == 0)
        return axis;
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
        return -1;
    return axis == 1 ? rank - 1 : axis > 1 ? axis - 1 : 0;
}

/* Returns the attributes of the first input that exists as u8, or NULL. */
static const struct quantize_u8_attrs *first_bytes(const struct int8_pass *pass,
                                                   const struct op *op)
{
    const struct quantize_u8_attrs *attrs = NULL;
    for (uint32_t i = 0; i < op->n_inputs && !attrs; i++)
        attrs = find_bytes(pass, op_input(pass->graph, op, i));
    return attrs;
}

/* Returns whether an input of a Concat has the only range of the others, as u8 in the same order or
 * as the result of a FakeQuantize. */
static bool has_range(struct int8_pass *pass, uint32_t value_id,
                      const struct quantize_u8_attrs *attrs)
{
    const struct quantize_u8_attrs *bytes = find_bytes(pass, value_id);
    struct quantize_u8_attrs format;
    return (!bytes || bytes->n_spatial == attrs->n_spatial) &&
           int8_find_format(pass, value_id, &format) && attrs->ranges.n == 1 &&
           format.ranges.n == 1 &&
           memcmp(attrs->ranges.all, format.ranges.all, sizeof *format.ranges.all) == 0;
}

/* Returns the u8 form of a value that has_range; quantizes it if there is none. */
static uint32_t bytes_of(struct int8_pass *pass, uint32_t value_id,
                         const struct quantize_u8_attrs *attrs)
{
    uint32_t *bytes = &pass->bytes[attrs->n_spatial > 0][value_id];
    if (*bytes == NO_ID) {
        uint32_t op_id = pass->graph->values[value_id].op_id;
        uint32_t x = op_input(pass->graph, &pass->graph->ops[op_id], 0);
        uint32_t added = int8_add_op(pass, &op_quantize_u8, attrs, op_id, x);
        *bytes = pass->graph->ops[added].first_output;
    }
    return *bytes;
}

static bool pass_on_concat(struct int8_pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    const struct quantize_u8_attrs *attrs = first_bytes(pass, &op);
    if (!attrs)
        return true;
    uint32_t *inputs =
        arena_alloc_array(pass->finder.arena, op.n_inputs, sizeof *inputs, pass->err);
    struct concat_attrs *concat = arena_alloc(pass->arena, sizeof *concat, pass->err);
    if (!inputs || !concat)
        return false;
    for (uint32_t i = 0; i < op.n_inputs; i++)
        if (!has_range(pass, op_input(pass->graph, &op, i), attrs))
            return pass->err->code == IRRUN_OK;
    concat->axis = find_axis(((const struct concat_attrs *)op.attrs)->axis, attrs->n_spatial);
    if (attrs->n_spatial > 0 && concat->axis < 0)
        return true;
    for (uint32_t i = 0; i < op.n_inputs; i++)
        inputs[i] = bytes_of(pass, op_input(pass->graph, &op, i), attrs);
    uint32_t added = graph_edit_add(&pass->edit, op.def, concat, &op, inputs, op.n_inputs, 1);
    take_over(pass, op.first_output, added, attrs);
    return true;
}

/* Adds bytes of one range each, if the result is quantized. */
static bool pass_on_add(struct int8_pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    uint32_t in[2] = {op_input(pass->graph, &op, 0), op_input(pass->graph, &op, 1)};
    const struct quantize_u8_attrs *a = find_bytes(pass, in[0]), *b = find_bytes(pass, in[1]);
    if (!a || !b || a->n_spatial != b->n_spatial || a->ranges.n > 1 || b->ranges.n > 1 ||
        ((const struct binary_attrs *)op.attrs)->auto_broadcast != AUTO_BROADCAST_NUMPY)
        return true;
    struct int8_match match = {.n_spatial = a->n_spatial, .out = op.first_output};
    int8_match_end(pass, &match);
    if (!match.has_out_format)
        return pass->err->code == IRRUN_OK;
    const struct bytes_sum *sum =
        int8_match_sum(&match, a->ranges.all, b->ranges.all, pass->arena, pass->err);
    const struct quantize_u8_attrs *out =
        int8_keep_format(pass, &match.out_format.ranges, a->n_spatial);
    if (!sum || !out)
        return false;
    for (int i = 0; i < 2; i++)
        in[i] = bytes_of(pass, in[i], i == 0 ? a : b);
    take_over(pass, match.out, graph_edit_add(&pass->edit, &op_int8_add, sum, &op, in, 2, 1), out);
    return true;
}

bool int8_pass_on(struct int8_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    if (op_is_type(op, "MaxPool"))
        return pass_on_max(pass, op_id);
    if (op_is_type(op, "Concat"))
        return pass_on_concat(pass, op_id);
    return !op_is_type(op, "Add") || pass_on_add(pass, op_id);
}
