/* Finds Const -> Convert [-> Subtract] [-> Multiply] [-> Reshape] [-> Convert] before a MatMul or a
 * Gather, and large matrices of floats before a MatMul, Const [-> Convert]. Replaces all of them
 * with an op that reads the Const.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/compressed_weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ops/compressed_ops.h"
#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "plan/graph_edit.h"
#include "plan/graph_ints.h"
#include "plan/toposort.h"
#include "tensor/small_float.h"

#define MAX_NEW_OPS 2         /* ops added for a MatMul or a Gather … */
#define MAX_INPUTS 4          /* … and their inputs */
#define MAX_ZERO_POINT 0x1p16 /* integer zero points are below this */

struct pass {
    struct model finder; /* finds constants, in memory that is freed after the pass */
    struct graph *graph;
    struct graph_edit edit;
    struct arena *arena;
    struct constant **constants;
    uint32_t n_values; /* before the pass */
    bool keeps_floats; /* large matrices of floats are not packed */
    struct remarks *remarks;
    struct irrun_error *err;
};

/* A constant matrix that the kernels can read as it is stored. */
struct match {
    uint32_t stored, scales, zero_points; /* values; NO_ID: none */
    struct compressed_attrs attrs;
};

/* Returns the constant of a value, or NULL. */
static const struct constant *constant_of(const struct pass *pass, uint32_t value_id)
{
    return value_id < pass->n_values ? pass->constants[value_id] : NULL;
}

static const struct op *producer_of(const struct pass *pass, uint32_t value_id, const char *type)
{
    const struct op *op = value_producer(pass->graph, value_id);
    return op_is_type(op, type) && constant_of(pass, value_id) ? op : NULL;
}

/* Matrices of floats of at least this size are not packed, which would copy them, if the file has
 * MIN_FILE_BYTES and the model has variables: then most runs compute one position. Products of more
 * than 4 rows are faster with packed matrices. */
#define MIN_FLOAT_BYTES (1 << 20)
#define MIN_FILE_BYTES ((size_t)256 << 20)

static bool has_floats_to_keep(const struct model *model)
{
    const struct graph *graph = model->graph;
    bool has_variables = false;
    for (uint32_t i = 0; i < graph->n_order; i++)
        has_variables |= op_is_type(&graph->ops[graph->order[i]], "ReadValue");
    return has_variables && model->kernels.gemm == IRRUN_GEMM_AUTO &&
           model->kernels.precision == IRRUN_PRECISION_F32 && graph->weights &&
           graph->weights->size_bytes >= MIN_FILE_BYTES;
}

static bool is_large_matrix(const struct const_attrs *attrs)
{
    enum irrun_dtype dtype = attrs->element_type;
    return (dtype == IRRUN_F32 || dtype_is_half(dtype)) && attrs->shape.rank == 2 &&
           shape_n_elements(&attrs->shape) * (int64_t)dtype_size(dtype) >= MIN_FLOAT_BYTES;
}

/* Returns whether the pass may keep such a Const as it is stored. */
static bool is_kept(const struct pass *pass, const struct const_attrs *attrs)
{
    return compressed_type_is_supported(attrs->element_type) ||
           dtype_is_half(attrs->element_type) || (pass->keeps_floats && is_large_matrix(attrs));
}

static bool is_compressed(const struct pass *pass, uint32_t value_id)
{
    const struct op *op = value_producer(pass->graph, value_id);
    return op->def && op->def->role == ROLE_CONST &&
           compressed_type_is_supported(((const struct const_attrs *)op->attrs)->element_type);
}

/* Matches Const -> Convert to a float. */
static bool match_convert(const struct pass *pass, uint32_t value_id, uint32_t *stored)
{
    const struct op *convert = producer_of(pass, value_id, "Convert");
    if (!convert || !is_compressed(pass, op_input(pass->graph, convert, 0)))
        return false;
    enum irrun_dtype to = pass->constants[value_id]->declared;
    *stored = op_input(pass->graph, convert, 0);
    return to == IRRUN_F32 || dtype_is_half(to);
}

/* Matches the above [-> Subtract]. */
static bool match_shifted(const struct pass *pass, uint32_t value_id, struct match *match)
{
    const struct op *subtract = producer_of(pass, value_id, "Subtract");
    if (!subtract)
        return match_convert(pass, value_id, &match->stored);
    uint32_t zero_points = op_input(pass->graph, subtract, 1), bytes;
    bool is_whole = match_convert(pass, zero_points, &bytes) &&
                    !small_float_is(pass->constants[bytes]->declared);
    match->zero_points = is_whole ? bytes : zero_points;
    return match_convert(pass, op_input(pass->graph, subtract, 0), &match->stored);
}

/* Matches the above [-> Multiply]. */
static bool match_scaled(const struct pass *pass, uint32_t value_id, struct match *match)
{
    const struct op *multiply = producer_of(pass, value_id, "Multiply");
    if (!multiply)
        return match_shifted(pass, value_id, match);
    uint32_t a = op_input(pass->graph, multiply, 0), b = op_input(pass->graph, multiply, 1);
    match->scales = b;
    if (match_shifted(pass, a, match))
        return true;
    match->zero_points = NO_ID;
    match->scales = a;
    return match_shifted(pass, b, match);
}

/* Returns the input of an op of this type, which changes no element but for its type. For any other
 * op returns value_id. */
static uint32_t skip(const struct pass *pass, uint32_t value_id, const char *type)
{
    const struct op *op = producer_of(pass, value_id, type);
    if (!op || is_compressed(pass, op_input(pass->graph, op, 0)) ||
        !constant_of(pass, op_input(pass->graph, op, 0)))
        return value_id;
    return op_input(pass->graph, op, 0);
}

/* ---- shapes ---- */

/* Finds the strides of the scales or zero points from row to row and from group to group. All
 * elements of a group must have the same number. `axes`: the dimensions of the Const that are rows,
 * groups and elements, or NO_ID. */
static bool find_steps(const struct pass *pass, uint32_t value_id, const struct irrun_shape *shape,
                       const uint32_t axes[3], size_t *row_step, size_t *group_step)
{
    size_t steps[3] = {0, 0, 0};
    if (value_id == NO_ID)
        return true;
    const struct irrun_shape *numbers = &constant_of(pass, value_id)->tensor.shape;
    if (shape_n_elements(numbers) != 1 && numbers->rank != shape->rank)
        return false;
    for (uint32_t i = 0; i < 3 && shape_n_elements(numbers) != 1; i++) {
        uint32_t axis = axes[i];
        if (axis == NO_ID || numbers->dims[axis] == 1)
            continue;
        if (numbers->dims[axis] != shape->dims[axis])
            return false;
        steps[i] = (size_t)shape_product(numbers, axis + 1, numbers->rank);
    }
    *row_step = steps[0];
    *group_step = steps[1];
    return steps[2] == 0;
}

/* Returns whether the zero points are integers, as the kernels need for integer codes. Reads them
 * if they are stored as floats. */
static bool are_whole(struct pass *pass, uint32_t value_id)
{
    const struct constant *constant = constant_of(pass, value_id);
    if (dtype_is_integer(constant->declared))
        return true;
    const struct irrun_tensor *tensor =
        constant_get(&pass->finder, pass->graph, value_id, pass->err);
    size_t n = tensor ? (size_t)shape_n_elements(&tensor->shape) : 0;
    for (size_t i = 0; i < n; i++) {
        double zero;
        convert_elements(tensor->dtype, (const char *)tensor->data + i * dtype_size(tensor->dtype),
                         IRRUN_F64, &zero, 1);
        if (!(fabs(zero) < MAX_ZERO_POINT) || zero != nearbyint(zero))
            return false;
    }
    return tensor != NULL;
}

/* Finds the rows and groups of a matrix that may have been reshaped. `is_transposed`: it is
 * [k][n]. */
static bool find_layout(const struct pass *pass, const struct irrun_shape *matrix,
                        bool is_transposed, struct match *match)
{
    static const uint32_t layouts[2][2][3] = {{{0, NO_ID, 1}, {1, NO_ID, 0}},
                                              {{0, 1, 2}, {2, 0, 1}}};
    const struct irrun_shape *shape = &constant_of(pass, match->stored)->tensor.shape;
    struct compressed_attrs *attrs = &match->attrs;
    if (matrix->rank != 2 || shape->rank < 2 || shape->rank > 3)
        return false;
    const uint32_t *axes = layouts[shape->rank - 2][is_transposed];
    attrs->is_transposed = is_transposed;
    attrs->n = (size_t)matrix->dims[is_transposed];
    attrs->k = (size_t)matrix->dims[!is_transposed];
    attrs->group = (size_t)shape->dims[axes[2]];
    bool is_4bit = dtype_stored_bits(constant_of(pass, match->stored)->declared) == 4;
    return attrs->n > 0 && attrs->k > 0 && shape->dims[axes[0]] == (int64_t)attrs->n &&
           shape_n_elements(shape) == (int64_t)(attrs->n * attrs->k) &&
           !(is_4bit && attrs->group % 2 != 0) &&
           find_steps(pass, match->scales, shape, axes, &attrs->scale_row_stride,
                      &attrs->scale_group_stride) &&
           find_steps(pass, match->zero_points, shape, axes, &attrs->zero_row_stride,
                      &attrs->zero_group_stride);
}

static const struct match no_match = {.stored = NO_ID, .scales = NO_ID, .zero_points = NO_ID};

/* Matches rows of floats. */
static bool match_floats(const struct pass *pass, uint32_t value_id, struct match *match)
{
    *match = no_match;
    const struct op *convert = producer_of(pass, value_id, "Convert");
    match->stored = convert ? op_input(pass->graph, convert, 0) : value_id;
    const struct op *op = value_producer(pass->graph, match->stored);
    if (!constant_of(pass, match->stored) || !op->def || op->def->role != ROLE_CONST ||
        !pass->keeps_floats || !is_large_matrix(op->attrs))
        return false;
    const struct const_attrs *stored = op->attrs;
    match->attrs.dtype = pass->constants[value_id]->declared;
    match->attrs.n = (size_t)stored->shape.dims[0];
    match->attrs.k = match->attrs.group = (size_t)stored->shape.dims[1];
    return match->attrs.dtype == (convert ? IRRUN_F32 : stored->element_type);
}

static bool match_matrix(struct pass *pass, uint32_t value_id, bool is_transposed,
                         struct match *match)
{
    *match = no_match;
    const struct constant *constant = constant_of(pass, value_id);
    if (!constant || !(constant->declared == IRRUN_F32 || dtype_is_half(constant->declared)))
        return false;
    match->attrs.dtype = constant->declared;
    uint32_t inner = skip(pass, value_id, "Convert");
    inner = skip(pass, inner, "Reshape");
    if (!match_scaled(pass, inner, match) ||
        !find_layout(pass, &constant->tensor.shape, is_transposed, match))
        return false;
    return match->zero_points == NO_ID ||
           small_float_is(constant_of(pass, match->stored)->declared) ||
           are_whole(pass, match->zero_points);
}

/* ---- the ops ---- */

/* Replaces op `op_id` with `def`. The constant becomes input `constant`, and `other` the other
 * input. */
static bool replace(struct pass *pass, uint32_t op_id, const struct op_def *def, uint32_t other,
                    uint32_t constant, struct match *match)
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
    const char *type = irrun_dtype_name(pass->constants[match->stored]->declared);
    char groups[64] = "";
    if (attrs->group < attrs->k)
        snprintf(groups, sizeof groups, " in groups of %zu", attrs->group);
    return remarks_add(pass->remarks, pass->arena, pass->err,
                       "%s \"%s\" (line %u) reads its weights as they are stored: %s%s%s",
                       op.def->type, op.name, (unsigned)op.line, type, groups,
                       attrs->is_transposed ? ", transposed once" : "");
}

static bool visit_matmul(struct pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    const struct matmul_attrs *attrs = op->attrs;
    struct match match;
    uint32_t a = op_input(pass->graph, op, 0);
    bool has_order = op->n_inputs == 3;
    const struct constant *order =
        has_order ? constant_of(pass, op_input(pass->graph, op, 2)) : NULL;
    if (attrs->transpose_a || constant_of(pass, a) ||
        (has_order && (!order || shape_n_elements(&order->tensor.shape) != 2)) ||
        !((attrs->transpose_b && match_floats(pass, op_input(pass->graph, op, 1), &match)) ||
          match_matrix(pass, op_input(pass->graph, op, 1), !attrs->transpose_b, &match)))
        return pass->err->code == IRRUN_OK;
    return replace(pass, op_id, &op_compressed_matmul, a, 1, &match);
}

/* Tables of at least this many f16 or bf16 are kept: rows are gathered first and then converted. */
#define GATHER_HALF_MIN_ELEMENTS (1 << 18)

static bool is_table_of_halves(const struct pass *pass, const struct op *gather)
{
    const struct op *convert = producer_of(pass, op_input(pass->graph, gather, 0), "Convert");
    const struct op *source =
        convert ? value_producer(pass->graph, op_input(pass->graph, convert, 0)) : NULL;
    if (!source || !source->def || source->def->role != ROLE_CONST)
        return false;
    const struct const_attrs *stored = source->attrs;
    return dtype_is_half(stored->element_type) &&
           shape_n_elements(&stored->shape) >= GATHER_HALF_MIN_ELEMENTS;
}

static bool convert_behind(struct pass *pass, uint32_t op_id)
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
    struct match match;
    int64_t axis;
    uint32_t n, data = op_input(pass->graph, op, 0), indices = op_input(pass->graph, op, 1);
    const struct constant *constant = constant_of(pass, data);
    if (!constant || constant_of(pass, indices))
        return true;
    if (is_table_of_halves(pass, op))
        return convert_behind(pass, op_id);
    if (!graph_ints(pass->graph, op_input(pass->graph, op, 2), &axis, 1, &n) ||
        (axis != 0 && axis != -(int64_t)constant->tensor.shape.rank) ||
        (op->def->attrs && ((const struct gather_attrs *)op->attrs)->batch_dims != 0) ||
        !match_matrix(pass, data, false, &match))
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
    if (!constants_find_early(&pass->finder, pass->graph, pass->err))
        return false;
    pass->constants = pass->graph->analysis->constants;
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
        .finder = {.graph = model->graph, .arena = &memory, .kernels = model->kernels},
        .graph = model->graph,
        .arena = model->arena,
        .n_values = model->graph->n_values,
        .keeps_floats = has_floats_to_keep(model),
        .remarks = remarks,
        .err = err};
    size_t n_users = 0, n_constants = 0;
    for (uint32_t i = 0; i < model->graph->n_order; i++) {
        const struct op *op = &model->graph->ops[model->graph->order[i]];
        n_users += op_is_type(op, "MatMul") || op_is_type(op, "Gather");
        n_constants += op_is_type(op, "Const") && is_kept(&pass, op->attrs);
    }
    if (n_users == 0 || n_constants == 0 || !kernels_may_pack(&model->kernels))
        return true;
    bool is_done = run_pass(&pass, n_users);
    model->graph->analysis = NULL;
    arena_free(&memory);
    return is_done && toposort(model->graph, model->arena, err);
}
