/* Rounds constant weights to 16 bits: inserts two conversions, to 16 bits and back, between a
 * constant and the products that read it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "ops/prepacked_convolution.h"
#include "plan/graph_edit.h"

static const struct convert_attrs to_f32 = {IRRUN_F32}, to_f16 = {IRRUN_F16},
                                  to_bf16 = {IRRUN_BF16};

struct pass {
    struct graph *graph;
    struct graph_edit edit;
    /* For each value before the pass: */
    struct constant **constants;
    bool *is_quantized;
    uint32_t *rounded; /* the rounded value that replaces the constant, or NO_ID */
    const struct convert_attrs *narrow;
    const struct op_def *convert;
    bool has_rounded;
    struct remarks *remarks;
    struct irrun_error *err;
};

/* Marks the constants that are computed from integers, small floats or a FakeQuantize, because
 * rounding would change the quantized values. */
static void find_quantized(const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->graph->n_order; i++) {
        const struct op *op = &pass->graph->ops[pass->graph->order[i]];
        bool is_quantized = op_is_type(op, "FakeQuantize");
        if (op->n_outputs == 0 || !pass->constants[op->first_output])
            continue;
        if (op->def->role == ROLE_CONST) {
            enum irrun_dtype dtype = ((const struct const_attrs *)op->attrs)->element_type;
            is_quantized = dtype != IRRUN_F64 && dtype != IRRUN_F32 && !dtype_is_half(dtype);
        }
        for (uint32_t k = 0; k < op->n_inputs; k++)
            is_quantized |=
                !op_input_is_index(op->def, k) && pass->is_quantized[op_input(pass->graph, op, k)];
        for (uint32_t k = 0; k < op->n_outputs; k++)
            pass->is_quantized[op->first_output + k] = is_quantized;
    }
}

/* Products with fewer weights than this do not become faster with rounded weights. For f16, these
 * are weights that fit into an L1 cache (32 KB) as f32: converting them takes longer than reading
 * f32. */
#define MIN_WEIGHTS_F16 8193
#define MIN_WEIGHTS_BF16 1024
/* Products of MANY_ROWS or more become 3 to 14 % slower with f16 weights on Zen 4, unless the
 * weights are larger than the caches as f32 (10 MB). */
#define MANY_ROWS 4
#define MANY_WEIGHTS 2500000

static const struct constant *find_weights(const struct pass *pass, const struct op *op, uint32_t i)
{
    return op->def->rounded_inputs >> i & 1 ? pass->constants[op_input(pass->graph, op, i)] : NULL;
}

/* Returns the number of elements of one matrix: the product of the last two dimensions. */
static int64_t matrix_elements(const struct irrun_shape *shape)
{
    int64_t n = 1;
    for (uint32_t d = shape->rank > 2 ? shape->rank - 2 : 0; d < shape->rank; d++)
        n *= shape->dims[d];
    return n;
}

/* Returns the number of elements of a value by its shape in the XML: 0 if a dimension is dynamic, 1
 * if the rank is. */
static double hinted_elements(const struct value *value)
{
    double n = 1;
    for (uint32_t d = 0; d < value->rank_hint; d++)
        n *= value->dims_hint[d] > 0 ? (double)value->dims_hint[d] : 0;
    return n;
}

/* Returns whether, by the shapes in the XML, a MatMul has MANY_ROWS or more. The number of rows m
 * follows from the sizes of its matrices: (m * k) * (m * n) / (k * n) = m * m. */
static bool has_many_rows(const struct pass *pass, const struct op *op, uint32_t i)
{
    if (!op_is_type(op, "MatMul"))
        return false;
    const struct irrun_shape *shape = &pass->constants[op_input(pass->graph, op, i)]->tensor.shape;
    const struct value *values = pass->graph->values;
    double n_in = hinted_elements(&values[op_input(pass->graph, op, 1 - i)]);
    double n_out = hinted_elements(&values[op->first_output]);
    double n_matrix = (double)matrix_elements(shape), n = (double)shape_n_elements(shape);
    return n > 0 && n <= MANY_WEIGHTS && n_in * n_out * n_matrix >= n * n * (MANY_ROWS * MANY_ROWS);
}

/* Returns whether rounding the weights of an op saves time. f16 filters are packed as f32, so that
 * rounding them saves no time. */
static bool rounding_saves_time(const struct pass *pass, const struct op *op)
{
    bool is_f16 = pass->narrow->destination_type == IRRUN_F16;
    int64_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs && i < 32; i++) {
        const struct constant *weights = find_weights(pass, op, i);
        if (weights && op_is_type(op, "Convolution"))
            return !is_f16 && weights->tensor.shape.dims[1] >= CONVOLUTION_MIN_ROUNDED;
        if (weights && is_f16 && has_many_rows(pass, op, i))
            return false;
        n += weights ? matrix_elements(&weights->tensor.shape) : 0;
    }
    return n >= (is_f16 ? MIN_WEIGHTS_F16 : MIN_WEIGHTS_BF16);
}

/* Returns whether input i of the op is a constant that the pass rounds. */
static bool should_round(const struct pass *pass, const struct op *op, uint32_t i)
{
    uint32_t value_id = op_input(pass->graph, op, i);
    const struct constant *constant = find_weights(pass, op, i);
    enum irrun_dtype narrow = pass->narrow->destination_type;
    if (!constant || pass->is_quantized[value_id] || pass->constants[op->first_output] ||
        (constant->declared != IRRUN_F32 && constant->declared != IRRUN_F16))
        return false;
    uint32_t stored = constant_find_stored(pass->graph, value_id, narrow);
    return pass->constants[stored]->declared != narrow;
}

static bool round_input(struct pass *pass, uint32_t op_id, uint32_t i)
{
    const struct op *op = &pass->graph->ops[op_id];
    uint32_t *input_id = &pass->graph->input_ids[op->first_input + i];
    uint32_t *rounded = &pass->rounded[*input_id];
    bool is_f16 = pass->constants[*input_id]->declared == IRRUN_F16;
    if (*rounded == NO_ID) {
        uint32_t narrow = graph_edit_add(&pass->edit, &op_narrow, pass->narrow, op, input_id, 1, 1);
        uint32_t widen = graph_edit_add(&pass->edit, pass->convert, is_f16 ? &to_f16 : &to_f32, op,
                                        &pass->graph->ops[narrow].first_output, 1, 1);
        *rounded = pass->graph->ops[widen].first_output;
    }
    *input_id = *rounded;
    return remarks_add(pass->remarks, pass->edit.arena, pass->err,
                       "%s \"%s\" (line %u) reads input %u rounded to %s", op->def->type, op->name,
                       (unsigned)op->line, (unsigned)i,
                       irrun_dtype_name(pass->narrow->destination_type));
}

/* Counts the inputs to round, and rounds them unless `only_counts`. */
static bool round_all(struct pass *pass, bool only_counts, size_t *n)
{
    uint32_t n_order = pass->graph->n_order;
    *n = 0;
    for (uint32_t k = 0; k < n_order; k++) {
        uint32_t op_id = pass->graph->order[k], n_inputs = pass->graph->ops[op_id].n_inputs;
        bool saves_time = rounding_saves_time(pass, &pass->graph->ops[op_id]);
        for (uint32_t i = 0; saves_time && i < n_inputs && i < 32; i++) {
            if (!should_round(pass, &pass->graph->ops[op_id], i))
                continue;
            ++*n;
            pass->has_rounded = true;
            if (!only_counts && !round_input(pass, op_id, i))
                return false;
        }
    }
    return true;
}

/* Fills the arrays of the pass, in memory that is freed after it. */
static bool analyse(struct pass *pass, const struct model *model, struct arena *memory)
{
    struct model finder = {.graph = pass->graph, .arena = memory, .kernels = model->kernels};
    uint32_t n = pass->graph->n_values;
    if (!constants_find_early(&finder, pass->err))
        return false;
    pass->constants = pass->graph->analysis->constants;
    pass->is_quantized = arena_alloc_array(memory, n, sizeof *pass->is_quantized, pass->err);
    pass->rounded = arena_alloc_array(memory, n, sizeof *pass->rounded, pass->err);
    for (uint32_t i = 0; i < n && pass->rounded; i++)
        pass->rounded[i] = NO_ID;
    return pass->is_quantized && pass->rounded;
}

static bool run_pass(struct pass *pass, const struct model *model, struct arena *memory)
{
    if (!analyse(pass, model, memory))
        return false;
    find_quantized(pass);
    size_t n, n_rounded;
    round_all(pass, true, &n);
    return n == 0 ||
           (graph_edit_begin(&pass->edit, pass->graph, model->arena, 2 * n, 2 * n, 2 * n,
                             pass->err) &&
            round_all(pass, false, &n_rounded) && toposort(pass->graph, model->arena, pass->err));
}

/* Visits a graph and the bodies in it. */
static bool lower_graph(struct pass *pass, const struct model *model, struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t b = 0; b < op->n_bodies; b++)
            if (!lower_graph(pass, model, op->bodies[b].graph))
                return false;
    }
    struct arena memory = {0};
    pass->graph = graph;
    bool is_done = run_pass(pass, model, &memory);
    graph->analysis = NULL;
    arena_free(&memory);
    return is_done;
}

bool lower_precision(const struct model *model, struct remarks *remarks, struct irrun_error *err)
{
    char why[OP_WHY_BYTES];
    if (model->kernels.precision == IRRUN_PRECISION_F32)
        return true;
    bool is_f16 = model->kernels.precision == IRRUN_PRECISION_F16;
    struct pass pass = {.narrow = is_f16 ? &to_f16 : &to_bf16,
                        .convert = op_find("Convert", "opset1", why),
                        .remarks = remarks,
                        .err = err};
    return lower_graph(&pass, model, model->graph) &&
           (pass.has_rounded ||
            remarks_add(remarks, model->arena, err,
                        "%s rounds nothing: no product has %d or more weights to round",
                        irrun_dtype_name(pass.narrow->destination_type),
                        is_f16 ? MIN_WEIGHTS_F16 : MIN_WEIGHTS_BF16));
}
