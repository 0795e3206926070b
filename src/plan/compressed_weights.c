/* Replaces a MatMul or a Gather, and the ops that expand its constant, with an op that reads the
 * Const as it is stored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include <stdio.h>

#include "kernels/quantized_gemm.h"
#include "ops/internal_ops.h"
#include "plan/compressed_match.h"
#include "plan/graph_edit.h"
#include "plan/graph_ints.h"

/* Limits for one MatMul or Gather: added ops, and inputs of these ops. */
#define MAX_NEW_OPS 2
#define MAX_INPUTS 4

struct pass {
    struct compressed_matcher matcher;
    struct graph *graph;
    struct graph_edit edit;
    bool quantizes; /* with --dynamic-quantization */
    struct arena *arena;
    struct remarks *remarks;
    struct irrun_error *err;
};

/* If the file has at least this size and the model has variables, large matrices of floats are read
 * as they are stored, since packing would copy them. Most runs of such a model compute one
 * position. Products of more than 4 rows would be faster with packed matrices. */
#define MIN_FILE_BYTES ((size_t)256 << 20)

static bool has_floats_to_keep(const struct model *model)
{
    const struct graph *graph = model->graph;
    bool has_variables = false;
    if (model->kernels.gemm != IRRUN_GEMM_AUTO || model->kernels.precision != IRRUN_PRECISION_F32 ||
        !graph->weights || graph->weights->size_bytes < MIN_FILE_BYTES)
        return false;
    for (uint32_t i = 0; i < graph->n_order && !has_variables; i++)
        has_variables = op_is_type(&graph->ops[graph->order[i]], "ReadValue");
    return has_variables;
}

/* Returns whether the pass may keep a Const with these attributes as it is stored. */
static bool is_kept(const struct pass *pass, const struct const_attrs *attrs)
{
    return compressed_type_is_supported(attrs->element_type) ||
           dtype_is_half(attrs->element_type) ||
           (pass->matcher.keeps_floats && compressed_is_large_matrix(attrs));
}

/* ---- replacing ops ---- */

/* Replaces op `op_id` with an op of `def`. The stored constant becomes input `constant` (0 or 1) of
 * the new op, and the value `other` becomes input 1 - constant. */
static bool replace(struct pass *pass, uint32_t op_id, const struct op_def *def, uint32_t other,
                    uint32_t constant, struct compressed_match *match)
{
    struct compressed_attrs *attrs = arena_alloc(pass->arena, sizeof *attrs, pass->err);
    uint32_t inputs[MAX_INPUTS], n = 2;
    if (!attrs)
        return false;
    match->attrs.constant = constant;
    inputs[constant] = match->stored;
    inputs[!constant] = other;
    match->attrs.scales = match->scales == NO_ID ? NO_ID : n;
    if (match->scales != NO_ID)
        inputs[n++] = match->scales;
    match->attrs.zero_points = match->zero_points == NO_ID ? NO_ID : n;
    if (match->zero_points != NO_ID)
        inputs[n++] = match->zero_points;
    *attrs = match->attrs;
    const struct op op = pass->graph->ops[op_id];
    uint32_t added = graph_edit_add(&pass->edit, def, attrs, &op, inputs, n, 1);
    graph_edit_take_over(&pass->edit, added, op.first_output);
    enum irrun_dtype dtype = pass->matcher.constants[match->stored]->declared;
    bool is_product = constant == 1;
    char groups[64] = "";
    if (attrs->group < attrs->k)
        snprintf(groups, sizeof groups, " in groups of %zu", attrs->group);
    return remarks_add(pass->remarks, pass->arena, pass->err,
                       "%s \"%s\" (line %u) reads its weights as they are stored: %s%s%s%s",
                       op.def->type, op.name, (unsigned)op.line, irrun_dtype_name(dtype), groups,
                       attrs->is_transposed ? ", transposed before the first run" : "",
                       def == &op_quantized_matmul ? ", and quantizes the other operand"
                       : pass->quantizes && is_product
                           ? "; dynamic quantization needs integer weights"
                           : "");
}

static bool visit_matmul(struct pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    const struct matmul_attrs *attrs = op->attrs;
    struct compressed_match match;
    uint32_t a = op_input(pass->graph, op, 0);
    bool has_order = op->n_inputs == 3;
    const struct constant *order =
        has_order ? compressed_constant(&pass->matcher, op_input(pass->graph, op, 2)) : NULL;
    if (attrs->transpose_a || compressed_constant(&pass->matcher, a) ||
        (has_order && (!order || shape_n_elements(&order->tensor.shape) != 2)) ||
        !((attrs->transpose_b &&
           compressed_match_floats(&pass->matcher, op_input(pass->graph, op, 1), &match)) ||
          compressed_match_codes(&pass->matcher, op_input(pass->graph, op, 1), !attrs->transpose_b,
                                 &match)))
        return pass->err->code == IRRUN_OK;
    bool is_quantized =
        pass->quantizes && quantized_is_supported(pass->matcher.constants[match.stored]->declared);
    return replace(pass, op_id, is_quantized ? &op_quantized_matmul : &op_compressed_matmul, a, 1,
                   &match);
}

/* A table with at least this many f16 or bf16 elements is not converted as a whole: its rows are
 * gathered first, and then converted. */
#define GATHER_16BIT_MIN_ELEMENTS (1 << 18)

static bool is_large_16bit_table(const struct pass *pass, const struct op *gather)
{
    const struct op *convert =
        compressed_producer(&pass->matcher, op_input(pass->graph, gather, 0), "Convert");
    const struct op *source =
        convert ? value_producer(pass->graph, op_input(pass->graph, convert, 0)) : NULL;
    if (!source || op_role_of(source) != ROLE_CONST)
        return false;
    const struct const_attrs *stored = source->attrs;
    return dtype_is_half(stored->element_type) &&
           shape_n_elements(&stored->shape) >= GATHER_16BIT_MIN_ELEMENTS;
}

static bool convert_after_gather(struct pass *pass, uint32_t op_id)
{
    const struct graph *graph = pass->graph;
    const struct op gather = graph->ops[op_id];
    const struct op convert = *value_producer(graph, op_input(graph, &gather, 0));
    uint32_t inputs[] = {op_input(graph, &convert, 0), op_input(graph, &gather, 1),
                         op_input(graph, &gather, 2)};
    uint32_t added = graph_edit_add(&pass->edit, gather.def, gather.attrs, &gather, inputs, 3, 1);
    uint32_t rows = graph->ops[added].first_output;
    added = graph_edit_add(&pass->edit, convert.def, convert.attrs, &convert, &rows, 1, 1);
    graph_edit_take_over(&pass->edit, added, gather.first_output);
    return remarks_add(pass->remarks, pass->arena, pass->err,
                       "Gather \"%s\" (line %u) now runs before Convert \"%s\"", gather.name,
                       (unsigned)gather.line, convert.name);
}

static bool visit_gather(struct pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    struct compressed_match match;
    int64_t axis;
    uint32_t n, data = op_input(pass->graph, op, 0), indices = op_input(pass->graph, op, 1);
    const struct constant *constant = compressed_constant(&pass->matcher, data);
    if (!constant || compressed_constant(&pass->matcher, indices))
        return true;
    if (is_large_16bit_table(pass, op))
        return convert_after_gather(pass, op_id);
    if (!graph_ints(pass->graph, op_input(pass->graph, op, 2), &axis, 1, &n) ||
        (axis != 0 && axis != -(int64_t)constant->tensor.shape.rank) ||
        (op->def->attrs && ((const struct gather_attrs *)op->attrs)->batch_dims != 0) ||
        !compressed_match_codes(&pass->matcher, data, false, &match))
        return pass->err->code == IRRUN_OK;
    match.attrs.gives_zeros = op->def->opset >= 8;
    return replace(pass, op_id, &op_compressed_gather, indices, 0, &match);
}

static bool visit(struct pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    if (op_is_type(op, "MatMul") && (op->n_inputs == 2 || op->def == &op_matmul_transposed))
        return visit_matmul(pass, op_id);
    return !op_is_type(op, "Gather") || op->n_inputs != 3 || visit_gather(pass, op_id);
}

static bool run_pass(struct pass *pass, size_t n_users)
{
    if (!constants_find_early(&pass->matcher.finder, pass->err))
        return false;
    pass->matcher.constants = pass->graph->analysis->constants;
    if (!graph_edit_begin(&pass->edit, pass->graph, pass->arena, MAX_NEW_OPS * n_users,
                          MAX_NEW_OPS * n_users, MAX_INPUTS * n_users, pass->err))
        return false;
    uint32_t n_order = pass->graph->n_order;
    for (uint32_t i = 0; i < n_order; i++)
        if (!visit(pass, pass->graph->order[i]))
            return false;
    return true;
}

bool compressed_weights_keep(const struct model *model, struct remarks *remarks,
                             struct irrun_error *err)
{
    struct arena memory = {0};
    struct pass pass = {
        .matcher = {.finder = {.graph = model->graph, .arena = &memory, .kernels = model->kernels},
                    .graph = model->graph,
                    .n_values = model->graph->n_values,
                    .keeps_floats = has_floats_to_keep(model),
                    .err = err},
        .graph = model->graph,
        .quantizes = model->kernels.dynamic_quantization,
        .arena = model->arena,
        .remarks = remarks,
        .err = err};
    size_t n_users = 0, n_constants = 0;
    for (uint32_t i = 0; i < model->graph->n_order; i++) {
        const struct op *op = &model->graph->ops[model->graph->order[i]];
        n_users += op_is_type(op, "MatMul") || op_is_type(op, "Gather");
        n_constants += op_is_type(op, "Const") && is_kept(&pass, op->attrs);
    }
    if (n_users == 0 || n_constants == 0 ||
        !(kernels_may_pack(&model->kernels) || model->kernels.dynamic_quantization))
        return true;
    bool is_done = run_pass(&pass, n_users);
    model->graph->analysis = NULL;
    arena_free(&memory);
    return is_done && toposort(model->graph, model->arena, err);
}
