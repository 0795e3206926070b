/* Finds convolutions and products between FakeQuantizes, and replaces them with int8 ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include <math.h>
#include <string.h>

#include "ops/op_state.h"
#include "plan/int8_match.h"
#include "plan/int8_pass_internal.h"

#define MAX_NEW_OPS 3  /* for one op: quantize, int8 op, dequantize; not counting one per input */
#define SMALL_IMAGE 36 /* pixels; with fewer, reading Winograd's larger filters costs too much */
#define MAX_TERMS (INT32_MAX / (UINT8_MAX * 128)) /* products whose sum fits into i32 */

const struct irrun_tensor *int8_find_floats(struct int8_pass *pass, uint32_t value_id)
{
    return value_id < pass->n_values ? int8_floats(&pass->finder, pass->graph, value_id, pass->err)
                                     : NULL;
}

/* ---- ops after the product ---- */

/* Returns the only op that reads a value; NULL if there is none or more than one. */
static const struct op *find_user(const struct int8_pass *pass, uint32_t value_id)
{
    return pass->n_uses[value_id] == 1 ? &pass->graph->ops[pass->user[value_id]] : NULL;
}

bool int8_is_for_channels(const struct irrun_tensor *tensor, size_t n_channels, uint32_t from_end)
{
    const struct irrun_shape *shape = &tensor->shape;
    size_t n = (size_t)shape_n_elements(shape);
    if (shape->rank > (from_end > 1 ? from_end + 1 : 4)) /* the result would have more dimensions */
        return false;
    return n == 1 || (n == n_channels && shape->rank >= from_end &&
                      (size_t)shape->dims[shape->rank - from_end] == n_channels);
}

/* Matches a binary op of type `type` if it is the only reader of match->out and its other input is
 * one constant, or one per channel. Sets match->out to the output of the op, and returns the
 * constants. Returns NULL if there is no match. */
static const struct irrun_tensor *match_constants(struct int8_pass *pass, const char *type,
                                                  struct int8_match *match)
{
    const struct op *op = find_user(pass, match->out);
    if (!op || !op_is_type(op, type) || op->n_inputs != 2 ||
        ((const struct binary_attrs *)op->attrs)->auto_broadcast != AUTO_BROADCAST_NUMPY)
        return NULL;
    uint32_t other = op_input(pass->graph, op, op_input(pass->graph, op, 0) == match->out);
    const struct irrun_tensor *constants = int8_find_floats(pass, other);
    size_t n_channels = match->weights.n_channels / (match->enlarge[0] * match->enlarge[1]);
    if (!constants || !int8_is_for_channels(constants, n_channels, match->n_spatial + 1))
        return NULL;
    match->out = op->first_output;
    return constants;
}

void int8_match_bias(struct int8_pass *pass, struct int8_match *match)
{
    match->bias = match_constants(pass, "Add", match);
}

/* Returns whether the format has one range, or one per output channel. */
static bool is_for_channels(const struct int8_match *match, const struct quantize_u8_attrs *format)
{
    return format->ranges.n == 1 ||
           (format->n_spatial == match->n_spatial && format->ranges.n == match->weights.n_channels);
}

/* Finds the slopes of a PReLU: one, or one per channel. */
static bool find_slopes(struct int8_pass *pass, const struct op *op, struct int8_match *match)
{
    const struct irrun_tensor *slopes = int8_find_floats(pass, op_input(pass->graph, op, 1));
    size_t n = match->weights.n_channels;
    bool is_found = slopes && ((slopes->shape.rank == 1 && (size_t)slopes->shape.dims[0] == n) ||
                               int8_is_for_channels(slopes, n, match->n_spatial + 1));
    match->slopes = is_found ? slopes : NULL;
    return is_found;
}

static bool find_activation(struct int8_pass *pass, const struct op *op, struct int8_match *match)
{
    static const char *const known[] = {"Swish", "HSwish", "Mish", "Gelu", "Sigmoid", "Tanh"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (op_is_type(op, known[i])) {
            match->activation = unary_operation_of(op->def, op->attrs, op->n_inputs);
            return op->n_inputs == 1;
        }
    return op_is_type(op, "PReLU") && op_input(pass->graph, op, 0) == match->out &&
           find_slopes(pass, op, match);
}

/* Matches an activation and a FakeQuantize after a convolution. */
static void match_activation(struct int8_pass *pass, struct int8_match *match)
{
    const struct op *op = find_user(pass, match->out);
    const struct op *next = op ? find_user(pass, op->first_output) : NULL;
    if (!next || !match->op || match->n_spatial == 0 || match->enlarge[0] * match->enlarge[1] > 1 ||
        !find_activation(pass, op, match) || op_input(pass->graph, next, 0) != op->first_output ||
        !int8_find_ranges(pass, next, &match->out_format) ||
        !is_for_channels(match, &match->out_format))
        return;
    match->has_activation = match->has_out_format = true;
    match->out = next->first_output;
}

static bool match_fake_quantize(struct int8_pass *pass, struct int8_match *match)
{
    const struct op *next = find_user(pass, match->out);
    match->has_out_format = next && next->n_inputs > 0 &&
                            op_input(pass->graph, next, 0) == match->out &&
                            int8_find_ranges(pass, next, &match->out_format) &&
                            is_for_channels(match, &match->out_format);
    if (match->has_out_format)
        match->out = next->first_output;
    return match->has_out_format;
}

/* Matches a normalization after a ReLU or Clamp: Multiply, an optional Add, and FakeQuantize. */
static bool match_normalization(struct int8_pass *pass, struct int8_match *match)
{
    struct int8_match longer = *match;
    if (!match->op || match->n_spatial == 0)
        return false;
    longer.multipliers = match_constants(pass, "Multiply", &longer);
    for (int64_t i = 0; longer.multipliers && i < shape_n_elements(&longer.multipliers->shape);
         i++) {
        float multiplier = ((const float *)longer.multipliers->data)[i];
        if (multiplier == 0 || !isfinite(multiplier)) /* infinite bounds would become NaN */
            return false;
    }
    if (!longer.multipliers)
        return false;
    longer.shifts = match_constants(pass, "Add", &longer);
    if (!match_fake_quantize(pass, &longer))
        return false;
    *match = longer;
    return true;
}

void int8_match_following_ops(struct int8_pass *pass, struct int8_match *match)
{
    const struct op *next = find_user(pass, match->out);
    bool is_clamp = next && op_is_type(next, "Clamp");
    match->clamp_low = -INFINITY;
    match->clamp_high = INFINITY;
    if (next && (is_clamp || op_is_type(next, "ReLU"))) {
        match->clamp_low = is_clamp ? ((const struct unary_attrs *)next->attrs)->p[0] : 0;
        match->clamp_high = is_clamp ? ((const struct unary_attrs *)next->attrs)->p[1] : INFINITY;
        match->out = next->first_output;
    }
    if (!match_fake_quantize(pass, match) && !match_normalization(pass, match))
        match_activation(pass, match);
}

/* Returns whether a Transpose has the order `wanted`, of 2 + n_spatial dimensions. */
static bool has_order(struct int8_pass *pass, const struct op *op, const int64_t wanted[],
                      uint32_t n_spatial)
{
    uint32_t order_id = op_input(pass->graph, op, 1);
    const struct constant *constant = pass->graph->analysis->constants[order_id];
    if (!constant || constant->tensor.dtype != IRRUN_I64 ||
        shape_n_elements(&constant->tensor.shape) != 2 + n_spatial)
        return false;
    const struct irrun_tensor *order =
        constant_get(&pass->finder, pass->graph, order_id, pass->err);
    return order && memcmp(order->data, wanted, (2 + n_spatial) * sizeof *wanted) == 0;
}

/* Matches a Transpose that moves the channels of an f32 result to the end. */
static void match_transpose(struct int8_pass *pass, struct int8_match *match)
{
    uint32_t n_spatial = match->n_spatial;
    const int64_t wanted[] = {0, 2, n_spatial > 1 ? 3 : 1, 1};
    const struct op *next = find_user(pass, match->out);
    if (!match->has_out_format && n_spatial > 0 && next && op_is_type(next, "Transpose") &&
        op_input(pass->graph, next, 0) == match->out && has_order(pass, next, wanted, n_spatial)) {
        match->out_channels_last = true;
        match->out = next->first_output;
    }
}

/* ---- a convolution or a product ---- */

/* Returns why an op cannot run in integers, or NULL. Fills the filters and weights of the match. */
static const char *find_fault(struct int8_pass *pass, struct int8_match *match)
{
    const struct op *producer = value_producer(pass->graph, match->in);
    uint32_t weights = op_input(pass->graph, match->op, 1);
    const struct constant *constant = pass->graph->analysis->constants[weights];
    const struct irrun_shape *shape = constant ? &constant->tensor.shape : NULL;
    bool is_found;
    const char *fault = int8_match_filters(match, shape);
    if (fault)
        return fault;
    if (producer->def == &op_dequantize_u8 &&
        ((const struct quantize_u8_attrs *)producer->attrs)->n_spatial != match->n_spatial)
        return "the bytes of its input are in a different order";
    if (!int8_weights_find(&pass->finder, pass->graph, weights,
                           match->n_groups * (size_t)match->filters.dims[0], match->n_column_taps,
                           &match->weights, &is_found, pass->err) ||
        !is_found)
        return "its filters are not 8-bit integers with a scale per channel";
    if (match->weights.n_inner > MAX_TERMS)
        return "its sums do not fit into 32 bits";
    if (match->in_format.ranges.n > 1 &&
        (!match->is_depthwise || !is_for_channels(match, &match->in_format)))
        return "it adds channels whose ranges differ";
    return NULL;
}

const struct quantize_u8_attrs *
int8_keep_format(struct int8_pass *pass, const struct channel_ranges *ranges, uint32_t n_spatial)
{
    struct quantize_u8_attrs *attrs = arena_alloc(pass->arena, sizeof *attrs, pass->err);
    if (attrs)
        *attrs = (struct quantize_u8_attrs){*ranges, n_spatial};
    return attrs;
}

static bool is_byte_parameter(const struct op *op)
{
    if (!op_is_type(op, "Parameter"))
        return false;
    enum irrun_dtype dtype = ((const struct parameter_attrs *)op->attrs)->element_type;
    return dtype == IRRUN_U8 || dtype == IRRUN_I8;
}

/* Adds the op that quantizes the input of the match to u8. If the input has one range, skips a
 * Transpose from channels last and a Convert from an 8-bit Parameter, and reads their input. */
static bool add_bytes(struct int8_pass *pass, const struct int8_match *match, uint32_t *value_id)
{
    uint32_t quantize = pass->graph->values[match->in].op_id;
    uint32_t x = int8_find_source(pass, match->in);
    uint32_t n_spatial = match->n_spatial;
    const struct op *op = value_producer(pass->graph, x);
    bool is_one_range = match->in_format.ranges.n == 1;
    if (is_one_range && n_spatial > 0 && op_is_type(op, "Transpose") &&
        has_order(pass, op, (const int64_t[]){0, 1 + n_spatial, 1, 2}, n_spatial)) {
        x = op_input(pass->graph, op, 0);
        n_spatial = 0;
        op = value_producer(pass->graph, x);
    }
    if (is_one_range && op_is_type(op, "Convert") &&
        ((const struct convert_attrs *)op->attrs)->destination_type == IRRUN_F32 &&
        is_byte_parameter(value_producer(pass->graph, op_input(pass->graph, op, 0))))
        x = op_input(pass->graph, op, 0);
    const void *attrs = int8_keep_format(pass, &match->in_format.ranges, n_spatial);
    if (!attrs || pass->err->code != IRRUN_OK)
        return false;
    uint32_t added = int8_add_op(pass, &op_quantize_u8, attrs, quantize, x);
    *value_id = pass->graph->ops[added].first_output;
    return true;
}

bool int8_replace(struct int8_pass *pass, const struct int8_match *match)
{
    uint32_t op_id = (uint32_t)(match->op - pass->graph->ops);
    const struct int8_convolution_attrs *attrs =
        int8_match_attrs(match, pass->finder.kernels.gemm_int8, pass->arena, pass->err);
    const void *out_attrs = int8_keep_format(pass, &match->out_format.ranges, match->n_spatial);
    const struct op_def *def = match->n_spatial > 0 ? &op_int8_convolution : &op_int8_matmul;
    uint32_t *bytes = int8_u8_forms(pass, match->n_spatial);
    if (!attrs || !out_attrs)
        return false;
    if (bytes[match->in] == NO_ID && !add_bytes(pass, match, &bytes[match->in]))
        return false;
    uint32_t added = int8_add_op(pass, def, attrs, op_id, bytes[match->in]);
    uint32_t last = pass->graph->values[match->out].op_id;
    size_t n_channels = match->weights.n_channels / (match->enlarge[0] * match->enlarge[1]);
    if (!match->out_channels_last)
        pass->images[match->out] = (struct int8_image){n_channels, match->n_spatial};
    if (match->has_out_format) {
        bytes[match->out] = pass->graph->ops[added].first_output;
        added = int8_add_op(pass, &op_dequantize_u8, out_attrs, last, bytes[match->out]);
    }
    pass->graph->ops[added].name = pass->graph->ops[last].name; /* an output may have this name */
    graph_edit_take_over(&pass->edit, added, match->out);
    return true;
}

static bool is_small_image(const struct value *x)
{
    return x->dims_hint && x->rank_hint == 4 && x->dims_hint[2] > 0 && x->dims_hint[3] > 0 &&
           x->dims_hint[2] < SMALL_IMAGE && x->dims_hint[3] < SMALL_IMAGE &&
           x->dims_hint[2] * x->dims_hint[3] < SMALL_IMAGE;
}

static bool is_candidate(const struct op *op)
{
    return int8_is_transposed_convolution(op) || op_is_type(op, "Convolution") ||
           op_is_type(op, "GroupConvolution") || op_is_type(op, "MatMul");
}

static bool visit(struct int8_pass *pass, uint32_t op_id)
{
    struct int8_match match = {.op = &pass->graph->ops[op_id], .n_groups = 1, .enlarge = {1, 1}};
    if (match.op->n_outputs > 0 && pass->graph->analysis->constants[match.op->first_output])
        return true; /* constant_get may compute it, but not from values that the pass adds */
    if (!is_candidate(match.op))
        return int8_replace_chain_op(pass, op_id);
    match.in = op_input(pass->graph, match.op, 0);
    match.out = match.op->first_output;
    match.is_small = is_small_image(&pass->graph->values[match.out]);
    if (!int8_find_format(pass, match.in, &match.in_format))
        return pass->err->code == IRRUN_OK;
    const char *fault = find_fault(pass, &match), *type = match.op->def->type;
    const char *name = match.op->name;
    unsigned line = (unsigned)match.op->line;
    if (pass->err->code != IRRUN_OK)
        return false;
    if (!fault) {
        int8_match_bias(pass, &match);
        int8_match_following_ops(pass, &match);
        match_transpose(pass, &match);
        if (match.enlarge[0] * match.enlarge[1] > 1 && !match.has_out_format)
            fault = "its result is not quantized";
    }
    if (fault)
        return remarks_add(pass->remarks, pass->arena, pass->err,
                           "%s \"%s\" (line %u) runs in f32: %s", type, name, line, fault);
    return pass->err->code == IRRUN_OK && int8_replace(pass, &match) &&
           remarks_add(pass->remarks, pass->arena, pass->err,
                       "%s \"%s\" (line %u) runs in integers", type, name, line);
}

/* ---- the pass ---- */

static bool count_uses(struct int8_pass *pass)
{
    const struct graph *graph = pass->graph;
    struct arena *arena = pass->finder.arena;
    pass->n_values = graph->n_values;
    pass->u8_rows = arena_alloc_array(arena, graph->n_values, sizeof(uint32_t), pass->err);
    pass->u8_images = arena_alloc_array(arena, graph->n_values, sizeof(uint32_t), pass->err);
    pass->n_uses = arena_alloc_array(arena, graph->n_values, sizeof *pass->n_uses, pass->err);
    pass->user = arena_alloc_array(arena, graph->n_values, sizeof *pass->user, pass->err);
    pass->images = arena_alloc_array(arena, graph->n_values, sizeof *pass->images, pass->err);
    if (!pass->u8_rows || !pass->u8_images || !pass->n_uses || !pass->user || !pass->images)
        return false;
    for (uint32_t i = 0; i < graph->n_values; i++)
        pass->u8_rows[i] = pass->u8_images[i] = NO_ID;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            pass->n_uses[op_input(graph, op, k)]++;
            pass->user[op_input(graph, op, k)] = graph->order[i];
        }
    }
    return true;
}

static bool run_pass(struct int8_pass *pass)
{
    const struct graph *graph = pass->graph;
    size_t n = 0, n_inputs = 0;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (is_candidate(op) || int8_is_chain_op(op)) {
            n += MAX_NEW_OPS + op->n_inputs;
            n_inputs += MAX_NEW_OPS + 2 * op->n_inputs;
        }
    }
    if (!constants_find_early(&pass->finder, pass->err) || !count_uses(pass) ||
        !graph_edit_begin(&pass->edit, pass->graph, pass->arena, n, n, n_inputs, pass->err))
        return false;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        int8_find_image(pass, &graph->ops[graph->order[i]]);
        if (!visit(pass, graph->order[i]))
            return false;
    }
    return true;
}

bool int8_convolutions_replace(const struct model *model, struct remarks *remarks,
                               struct irrun_error *err)
{
    struct arena memory = {0};
    struct int8_pass pass = {
        .finder = {.graph = model->graph, .arena = &memory, .kernels = model->kernels},
        .graph = model->graph,
        .arena = model->arena,
        .remarks = remarks,
        .err = err};
    size_t n_candidates = 0, n_quantizes = 0;
    for (uint32_t i = 0; i < model->graph->n_order; i++) {
        const struct op *op = &model->graph->ops[model->graph->order[i]];
        n_candidates += is_candidate(op);
        n_quantizes += op_is_type(op, "FakeQuantize");
    }
    if (n_candidates == 0 || n_quantizes == 0 || model->stops_at_nan)
        return true;
    bool is_done = run_pass(&pass);
    model->graph->analysis = NULL;
    arena_free(&memory);
    return is_done && toposort(model->graph, model->arena, err);
}
