/* Replaces MaxPool, Pad, Concat, Add, Multiply and reductions between int8 ops with ops on u8.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/checked.h"
#include "ops/op_state.h"
#include "plan/graph_ints.h"
#include "plan/int8_pass_internal.h"

bool int8_is_chain_op(const struct op *op)
{
    return op_is_type(op, "MaxPool") || op_is_type(op, "Concat") || op_is_type(op, "Add") ||
           op_is_type(op, "Multiply") || op_is_type(op, "Pad") || op_is_type(op, "ReduceMax") ||
           op_is_type(op, "ReduceMean");
}

const struct quantize_u8_attrs *int8_find_bytes(const struct int8_pass *pass, uint32_t value_id)
{
    const struct op *op = value_producer(pass->graph, value_id);
    return op->def == &op_dequantize_u8 ? op->attrs : NULL;
}

void int8_take_over(struct int8_pass *pass, uint32_t out, uint32_t added,
                    const struct quantize_u8_attrs *attrs)
{
    uint32_t op_id = pass->graph->values[out].op_id;
    uint32_t bytes = pass->graph->ops[added].first_output;
    int8_u8_forms(pass, attrs->n_spatial)[out] = bytes;
    graph_edit_take_over(&pass->edit, int8_add_op(pass, &op_dequantize_u8, attrs, op_id, bytes),
                         out);
}

/* Returns whether a window can lie entirely beyond the end of the image, because the output size is
 * rounded up. */
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

/* Returns whether no window lies entirely in the pads: u8 cannot represent the result of such a
 * window. The whole input may lie between two elements of a dilated window. */
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
    return (!has_pads || i64_list_is_all(&window->dilations, 1)) && !may_exceed_end(window);
}

static bool replace_max_pool(struct int8_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    const struct window_attrs *window = op->attrs;
    uint32_t in = op_input(pass->graph, op, 0);
    const struct quantize_u8_attrs *attrs = int8_find_bytes(pass, in);
    bool has_indices = op->n_outputs > 1 && pass->n_uses[op->first_output + 1] > 0;
    if (!attrs || attrs->n_spatial == 0 || has_indices || window->kernel.n != attrs->n_spatial ||
        !has_small_pads(window))
        return true;
    uint32_t bytes = pass->u8_images[in];
    int8_take_over(pass, op->first_output,
                   int8_add_op(pass, &op_int8_max_pool, window, op_id, bytes), attrs);
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

/* Returns the format of the first input that exists as u8, or NULL. */
static const struct quantize_u8_attrs *find_first_format(const struct int8_pass *pass,
                                                         const struct op *op)
{
    const struct quantize_u8_attrs *attrs = NULL;
    for (uint32_t i = 0; i < op->n_inputs && !attrs; i++)
        attrs = int8_find_bytes(pass, op_input(pass->graph, op, i));
    return attrs;
}

size_t int8_count_channels(const struct int8_pass *pass, uint32_t value_id, uint32_t n_spatial)
{
    const struct int8_image *image = &pass->images[value_id];
    return image->n_spatial == n_spatial ? image->n_channels : 0;
}

/* Returns the dimensions of a Concat of images; no channels if they are unknown. */
static struct int8_image image_of_concat(const struct int8_pass *pass, const struct op *op)
{
    struct int8_image image = pass->images[op_input(pass->graph, op, 0)];
    int64_t axis = find_axis(((const struct concat_attrs *)op->attrs)->axis, image.n_spatial);
    for (uint32_t i = 1; i < op->n_inputs && axis == 1 + image.n_spatial; i++) {
        size_t n = int8_count_channels(pass, op_input(pass->graph, op, i), image.n_spatial);
        if (n == 0 || !checked_add(image.n_channels, n, &image.n_channels))
            return (struct int8_image){0};
    }
    return image;
}

/* Returns the dimensions of a sum of two images; no channels if the dimensions differ. */
static struct int8_image image_of_sum(const struct int8_pass *pass, const struct op *op)
{
    const struct int8_image *a = &pass->images[op_input(pass->graph, op, 0)];
    const struct int8_image *b = &pass->images[op_input(pass->graph, op, 1)];
    bool is_same = a->n_spatial == b->n_spatial && a->n_channels == b->n_channels;
    return is_same ? *a : (struct int8_image){0};
}

void int8_find_image(struct int8_pass *pass, const struct op *op)
{
    struct int8_image *image = &pass->images[op->first_output];
    if (op_is_type(op, "Concat"))
        *image = image_of_concat(pass, op);
    else if (op_is_type(op, "Add") && image->n_channels == 0)
        *image = image_of_sum(pass, op);
    else if ((op_is_type(op, "FakeQuantize") || op_is_type(op, "MaxPool") ||
              op_is_type(op, "AvgPool")) &&
             image->n_channels == 0)
        *image = pass->images[op_input(pass->graph, op, 0)];
}

/* Finds the format of an input of a Concat. Returns false if the input cannot be u8 with its
 * dimensions in the order of the other inputs. */
static bool find_input_format(struct int8_pass *pass, uint32_t value_id, uint32_t n_spatial,
                              struct quantize_u8_attrs *format)
{
    const struct quantize_u8_attrs *bytes = int8_find_bytes(pass, value_id);
    bool is_found = (!bytes || bytes->n_spatial == n_spatial) &&
                    int8_find_format(pass, value_id, format) &&
                    (format->ranges.n == 1 || format->n_spatial == n_spatial);
    format->n_spatial = n_spatial;
    return is_found;
}

/* Returns the u8 form of a value with this format. Adds an op that quantizes the value if it has no
 * u8 form yet. */
static uint32_t get_bytes(struct int8_pass *pass, uint32_t value_id,
                          const struct quantize_u8_attrs *format)
{
    uint32_t *bytes = &int8_u8_forms(pass, format->n_spatial)[value_id];
    if (*bytes == NO_ID) {
        const void *attrs = int8_keep_format(pass, &format->ranges, format->n_spatial);
        uint32_t op_id = pass->graph->values[value_id].op_id, x = int8_find_source(pass, value_id);
        uint32_t added = int8_add_op(pass, &op_quantize_u8, attrs, op_id, x);
        *bytes = pass->graph->ops[added].first_output;
    }
    return *bytes;
}

static bool is_one_range(const struct quantize_u8_attrs *formats, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (formats[i].ranges.n > 1 || memcmp(formats[i].ranges.all, formats[0].ranges.all,
                                              sizeof *formats[0].ranges.all) != 0)
            return false;
    return true;
}

#define MAX_JOINED (1U << 16) /* maximum number of channels, which limits memory for their ranges */

/* Joins the ranges of the inputs of a Concat along the channels, for a Multiply, which can read u8
 * values with a range per channel. Returns NULL if a different op reads the result, or, with *err
 * filled, on failure. */
static const struct quantize_u8_attrs *join_ranges(struct int8_pass *pass, const struct op *op,
                                                   const struct quantize_u8_attrs *formats)
{
    uint32_t n_spatial = formats[0].n_spatial;
    size_t n_all = int8_count_channels(pass, op->first_output, n_spatial), n = 0;
    const struct op *user = &pass->graph->ops[pass->user[op->first_output]];
    if (n_all < 2 || n_all > MAX_JOINED || pass->n_uses[op->first_output] != 1 ||
        !op_is_type(user, "Multiply"))
        return NULL;
    struct quantization *all = arena_alloc_array(pass->arena, n_all, sizeof *all, pass->err);
    for (uint32_t i = 0; i < op->n_inputs && all; i++) {
        size_t n_own = int8_count_channels(pass, op_input(pass->graph, op, i), n_spatial);
        if (formats[i].ranges.n > 1 && formats[i].ranges.n != n_own)
            return NULL;
        for (size_t c = 0; c < n_own; c++)
            all[n++] = *range_of(&formats[i].ranges, c);
    }
    const struct channel_ranges ranges = {all, n_all};
    return all ? int8_keep_format(pass, &ranges, n_spatial) : NULL;
}

static bool replace_concat(struct int8_pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    const struct quantize_u8_attrs *attrs = find_first_format(pass, &op);
    if (!attrs)
        return true;
    struct arena *arena = pass->finder.arena;
    uint32_t *inputs = arena_alloc_array(arena, op.n_inputs, sizeof *inputs, pass->err);
    struct quantize_u8_attrs *formats =
        arena_alloc_array(arena, op.n_inputs, sizeof *formats, pass->err);
    struct concat_attrs *concat = arena_alloc(pass->arena, sizeof *concat, pass->err);
    if (!inputs || !formats || !concat)
        return false;
    for (uint32_t i = 0; i < op.n_inputs; i++)
        if (!find_input_format(pass, op_input(pass->graph, &op, i), attrs->n_spatial, &formats[i]))
            return pass->err->code == IRRUN_OK;
    concat->axis = find_axis(((const struct concat_attrs *)op.attrs)->axis, attrs->n_spatial);
    if (attrs->n_spatial > 0 && concat->axis < 0)
        return true;
    if (!is_one_range(formats, op.n_inputs))
        attrs = attrs->n_spatial > 0 && concat->axis == 1 + attrs->n_spatial
                    ? join_ranges(pass, &op, formats)
                    : NULL;
    if (!attrs)
        return pass->err->code == IRRUN_OK;
    for (uint32_t i = 0; i < op.n_inputs; i++)
        inputs[i] = get_bytes(pass, op_input(pass->graph, &op, i), &formats[i]);
    uint32_t added = graph_edit_add(&pass->edit, op.def, concat, &op, inputs, op.n_inputs, 1);
    int8_take_over(pass, op.first_output, added, attrs);
    return true;
}

/* Finds the byte that represents a number exactly. */
static bool find_byte(const struct quantization *range, float number, uint8_t *byte)
{
    for (int i = 0; i <= (int)range->last; i++) {
        float level = (float)i * range->scale;
        level = i == (int)range->last ? range->out_high : level + range->out_low;
        *byte = (uint8_t)i;
        if (level == number && !signbit(level) == !signbit(number))
            return true;
    }
    return false;
}

/* Finds the format of the input of a Pad whose output a convolution reads. */
static bool find_padded_format(struct int8_pass *pass, const struct op *pad,
                               struct quantize_u8_attrs *format)
{
    int64_t pads[2 + 2];
    uint32_t n;
    if (!op_is_type(&pass->graph->ops[pass->user[pad->first_output]], "Convolution") ||
        !int8_find_format(pass, op_input(pass->graph, pad, 0), format) || format->ranges.n > 1 ||
        !graph_ints(pass->graph, op_input(pass->graph, pad, 1), pads, 2 + 2, &n) || n < 3)
        return false;
    format->n_spatial = n - 2;
    return true;
}

static bool replace_pad(struct int8_pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    uint32_t in[3] = {op_input(pass->graph, &op, 0), op_input(pass->graph, &op, 1),
                      op_input(pass->graph, &op, 2)};
    const struct quantize_u8_attrs *format = int8_find_bytes(pass, in[0]);
    struct pad_attrs attrs = *(const struct pad_attrs *)op.attrs;
    struct quantize_u8_attrs padded;
    if (!format && find_padded_format(pass, &op, &padded))
        format = int8_keep_format(pass, &padded.ranges, padded.n_spatial);
    if (!format || format->ranges.n > 1)
        return pass->err->code == IRRUN_OK;
    if (attrs.pad_mode == PAD_CONSTANT) {
        const struct irrun_tensor *value =
            op.n_inputs > 3 ? int8_find_floats(pass, op_input(pass->graph, &op, 3)) : NULL;
        if ((op.n_inputs > 3 && (!value || shape_n_elements(&value->shape) != 1)) ||
            !find_byte(format->ranges.all, value ? *(const float *)value->data : 0, attrs.value))
            return pass->err->code == IRRUN_OK;
    }
    attrs.channels_last = format->n_spatial > 0;
    in[0] = get_bytes(pass, in[0], format);
    const void *kept = arena_copy(pass->arena, &attrs, 1, sizeof attrs, pass->err);
    if (kept)
        int8_take_over(pass, op.first_output,
                       graph_edit_add(&pass->edit, &op_int8_pad, kept, &op, in, 3, 1), format);
    return kept != NULL;
}

/* Replaces an Add of two u8 values, each with one range, if the result is quantized. */
static bool replace_add(struct int8_pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    uint32_t in[2] = {op_input(pass->graph, &op, 0), op_input(pass->graph, &op, 1)};
    const struct quantize_u8_attrs *a = int8_find_bytes(pass, in[0]),
                                   *b = int8_find_bytes(pass, in[1]);
    if (!a || !b || a->n_spatial != b->n_spatial || a->ranges.n > 1 || b->ranges.n > 1 ||
        ((const struct binary_attrs *)op.attrs)->auto_broadcast != AUTO_BROADCAST_NUMPY)
        return true;
    struct int8_match match = {.n_spatial = a->n_spatial, .out = op.first_output};
    int8_match_following_ops(pass, &match);
    if (!match.has_out_format)
        return pass->err->code == IRRUN_OK;
    const struct bytes_sum *sum =
        int8_match_sum(&match, a->ranges.all, b->ranges.all, pass->arena, pass->err);
    const struct quantize_u8_attrs *out =
        int8_keep_format(pass, &match.out_format.ranges, a->n_spatial);
    if (!sum || !out)
        return false;
    for (int i = 0; i < 2; i++)
        in[i] = get_bytes(pass, in[i], i == 0 ? a : b);
    int8_take_over(pass, match.out, graph_edit_add(&pass->edit, &op_int8_add, sum, &op, in, 2, 1),
                   out);
    return true;
}

/* Matches the constant input of a Multiply, one number per channel, as filters of one tap. Returns
 * false for any other input, or on failure. */
static bool match_channel_numbers(struct int8_pass *pass, uint32_t value_id,
                                  struct int8_match *match)
{
    const struct irrun_tensor *numbers = int8_find_floats(pass, value_id);
    size_t n = numbers ? (size_t)shape_n_elements(&numbers->shape) : 0;
    if (n < 2 || !int8_is_for_channels(numbers, n, match->n_spatial + 1))
        return false;
    int8_t *ones = arena_alloc(pass->finder.arena, n, pass->err);
    float *scales = arena_copy(pass->finder.arena, numbers->data, n, sizeof *scales, pass->err);
    for (size_t c = 0; c < n && ones && scales; c++) {
        ones[c] = 1;
        if (!isfinite(scales[c]))
            return false;
    }
    match->n_groups = n;
    match->filters = shape_of(4, (const int64_t[]){1, 1, 1, 1});
    match->weights = (struct int8_weights){n, 1, ones, scales};
    return ones && scales;
}

/* Replaces a Multiply of the channels by constants with a depthwise convolution of one tap, if the
 * result is quantized. */
static bool replace_multiply(struct int8_pass *pass, uint32_t op_id)
{
    static const struct window_attrs window = {0};
    const struct op *op = &pass->graph->ops[op_id];
    uint32_t in[2] = {op_input(pass->graph, op, 0), op_input(pass->graph, op, 1)};
    uint32_t image = int8_find_bytes(pass, in[0]) ? 0 : 1;
    const struct quantize_u8_attrs *format = int8_find_bytes(pass, in[image]);
    if (!format || format->n_spatial == 0 ||
        ((const struct binary_attrs *)op->attrs)->auto_broadcast != AUTO_BROADCAST_NUMPY)
        return true;
    struct int8_match match = {.op = op,
                               .enlarge = {1, 1},
                               .window = &window,
                               .in = in[image],
                               .in_format = *format,
                               .is_depthwise = true,
                               .n_spatial = format->n_spatial,
                               .out = op->first_output};
    if (!match_channel_numbers(pass, in[1 - image], &match))
        return pass->err->code == IRRUN_OK && int8_replace_scale(pass, op_id, image);
    if (int8_count_channels(pass, in[image], match.n_spatial) != match.n_groups)
        return pass->err->code == IRRUN_OK;
    int8_match_bias(pass, &match);
    int8_match_following_ops(pass, &match);
    if (!match.has_out_format)
        return pass->err->code == IRRUN_OK;
    return int8_replace(pass, &match);
}

bool int8_replace_chain_op(struct int8_pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    if (op_is_type(op, "MaxPool"))
        return replace_max_pool(pass, op_id);
    if (op_is_type(op, "Pad"))
        return replace_pad(pass, op_id);
    if (op_is_type(op, "Concat"))
        return replace_concat(pass, op_id);
    if (op_is_type(op, "Add"))
        return replace_add(pass, op_id);
    if (op_is_type(op, "ReduceMax") || op_is_type(op, "ReduceMean"))
        return int8_replace_reduce(pass, op_id);
    return !op_is_type(op, "Multiply") || replace_multiply(pass, op_id);
}
