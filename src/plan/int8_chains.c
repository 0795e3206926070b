/* Converts MaxPool and Concat between int8 ops to u8.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"
#include "plan/int8_pass_internal.h"

bool int8_passes_on(const struct op *op)
{
    return op_is_type(op, "MaxPool") || op_is_type(op, "Concat");
}

/* Returns the quantization of a value that exists as u8, or NULL. */
static const struct quantize_u8_attrs *find_bytes(const struct int8_pass *pass, uint32_t value_id)
{
    const struct op *op = value_producer(pass->graph, value_id);
    return op->def == &op_dequantize_u8 ? op->attrs : NULL;
}

/* Makes the output of `added` the u8 form of the output of an op. f32 ops read it through a
 * conversion. */
static void take_over(struct int8_pass *pass, uint32_t op_id, uint32_t added,
                      const struct quantize_u8_attrs *attrs)
{
    uint32_t out = pass->graph->ops[op_id].first_output;
    uint32_t bytes = pass->graph->ops[added].first_output;
    pass->bytes[attrs->nchw_to_nhwc][out] = bytes;
    graph_edit_take_over(&pass->edit, int8_add_op(pass, &op_dequantize_u8, attrs, op_id, bytes),
                         out);
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
            if (lists[side]->n != 2 || lists[side]->items[d] < 0 ||
                lists[side]->items[d] >= window->kernel.items[d])
                return false;
            has_pads |= lists[side]->items[d] > 0;
        }
    for (uint32_t d = 0; d < window->dilations.n && has_pads; d++)
        if (window->dilations.items[d] != 1)
            return false;
    return true;
}

static bool pass_on_max(struct int8_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    const struct window_attrs *window = op->attrs;
    uint32_t in = op_input(pass->graph, op, 0);
    const struct quantize_u8_attrs *attrs = find_bytes(pass, in);
    bool is_alone = op->n_outputs == 1 || pass->n_uses[op->first_output + 1] == 0;
    if (!attrs || !attrs->nchw_to_nhwc || !is_alone || window->kernel.n != 2 ||
        window->rounding_type != ROUNDING_FLOOR || !has_small_pads(window))
        return true;
    uint32_t bytes = pass->bytes[1][in];
    take_over(pass, op_id, int8_add_op(pass, &op_int8_max_pool, window, op_id, bytes), attrs);
    return true;
}

static bool are_same(const struct quantize_u8_attrs *a, const struct quantize_u8_attrs *b)
{
    return a->nchw_to_nhwc == b->nchw_to_nhwc &&
           memcmp(&a->quantization, &b->quantization, sizeof a->quantization) == 0;
}

/* Returns the dimension of the u8 value that corresponds to dimension `axis` of the f32 value, or
 * -1. */
static int64_t find_axis(int64_t axis, bool nchw_to_nhwc)
{
    static const int64_t places[] = {0, 3, 1, 2};
    if (!nchw_to_nhwc)
        return axis;
    return axis < -4 || axis > 3 ? -1 : places[axis < 0 ? axis + 4 : axis];
}

static bool pass_on_concat(struct int8_pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    uint32_t first = op_input(pass->graph, &op, 0);
    const struct quantize_u8_attrs *attrs = find_bytes(pass, first);
    uint32_t *inputs =
        arena_alloc_array(pass->finder.arena, op.n_inputs, sizeof *inputs, pass->err);
    struct concat_attrs *concat = arena_alloc(pass->arena, sizeof *concat, pass->err);
    if (!inputs || !concat)
        return false;
    for (uint32_t i = 0; i < op.n_inputs; i++) {
        uint32_t in = op_input(pass->graph, &op, i);
        const struct quantize_u8_attrs *other = find_bytes(pass, in);
        if (!attrs || !other || !are_same(attrs, other))
            return true;
        inputs[i] = pass->bytes[attrs->nchw_to_nhwc][in];
    }
    concat->axis = find_axis(((const struct concat_attrs *)op.attrs)->axis, attrs->nchw_to_nhwc);
    if (attrs->nchw_to_nhwc && concat->axis < 0)
        return true;
    uint32_t added = graph_edit_add(&pass->edit, op.def, concat, &op, inputs, op.n_inputs, 1);
    take_over(pass, op_id, added, attrs);
    return true;
}

bool int8_pass_on(struct int8_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    if (op_is_type(op, "MaxPool"))
        return pass_on_max(pass, op_id);
    return !op_is_type(op, "Concat") || pass_on_concat(pass, op_id);
}
