/* Follows the time axis through the ops. time_rules.c and time_moves.c contain the rules of ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/time_axis.h"

#include <stdio.h>

#include "ops/op_state.h"
#include "plan/recurrence.h"
#include "plan/time_rules.h"

#define MAX_REPORTED 10

static const struct rule {
    const char *type;
    time_rule_fn *run;
    bool is_unary; /* only input 0 may depend on time */
} rules[] = {
    {"PReLU", time_rule_prelu, false},
    {"ConvertLike", time_rule_first, false},
    {"Identity", time_rule_first, false},
    {"Select", time_rule_elementwise, false},
    {"MatMul", time_rule_matmul, false},
    {"Convolution", time_rule_convolution, true},
    {"GroupConvolution", time_rule_convolution, true},
    {"BatchNormInference", time_rule_channels, false},
    {"MaxPool", time_rule_batchwise, true},
    {"AvgPool", time_rule_batchwise, true},
    {"AdaptiveAvgPool", time_rule_batchwise, true},
    {"GroupNormalization", time_rule_batchwise, true},
    {"DepthToSpace", time_rule_batchwise, true},
    {"SpaceToDepth", time_rule_batchwise, true},
    {"SoftMax", time_rule_axis_attribute, true},
    {"LogSoftmax", time_rule_axis_attribute, true},
    {"TopK", time_rule_axis_attribute, true},
    {"ReduceL1", time_rule_reduction, true},
    {"ReduceL2", time_rule_reduction, true},
    {"ReduceMax", time_rule_reduction, true},
    {"ReduceMean", time_rule_reduction, true},
    {"ReduceMin", time_rule_reduction, true},
    {"ReduceProd", time_rule_reduction, true},
    {"ReduceSum", time_rule_reduction, true},
    {"ReduceLogicalAnd", time_rule_reduction, true},
    {"ReduceLogicalOr", time_rule_reduction, true},
    {"MVN", time_rule_mvn, true},
    {"NormalizeL2", time_rule_axes, true},
    {"CumSum", time_rule_axes, true},
    {"LSTMSequence", time_rule_recurrent, false},
    {"GRUSequence", time_rule_recurrent, false},
    {"RNNSequence", time_rule_recurrent, false},
    {"TensorIterator", time_rule_loop, false},
    {"Loop", time_rule_loop, false},
    {"Transpose", time_rule_transpose, true},
    {"Reshape", time_rule_reshape, false},
    {"Unsqueeze", time_rule_unsqueeze, true},
    {"Squeeze", time_rule_squeeze, true},
    {"Concat", time_rule_concat, false},
    {"Gather", time_rule_gather, false},
    {"Split", time_rule_split, true},
    {"VariadicSplit", time_rule_split, true},
    {"Slice", time_rule_slice, true},
    {"StridedSlice", time_rule_strided_slice, true},
    {"Pad", time_rule_pad, true},
    {"Tile", time_rule_tile, true},
    {"Broadcast", time_rule_broadcast, false},
    {"ShapeOf", time_rule_shape_of, false},
};

/* ---- shapes in the XML ---- */

enum irrun_dtype time_dtype(const struct graph *graph, uint32_t value_id)
{
    const struct op *op = value_producer(graph, value_id);
    return op->def->role == ROLE_CONST ? ((const struct const_attrs *)op->attrs)->element_type
                                       : (enum irrun_dtype)graph->values[value_id].dtype_hint;
}

uint32_t time_rank(const struct graph *graph, uint32_t value_id)
{
    const struct op *op = value_producer(graph, value_id);
    if (op->def->role == ROLE_CONST)
        return ((const struct const_attrs *)op->attrs)->shape.rank;
    if (op->def->role == ROLE_PARAMETER)
        return ((const struct parameter_attrs *)op->attrs)->shape.rank;
    return graph->values[value_id].rank_hint;
}

int64_t time_dim(const struct graph *graph, uint32_t value_id, uint32_t axis)
{
    const struct op *op = value_producer(graph, value_id);
    if (axis >= time_rank(graph, value_id))
        return -1;
    if (op->def->role == ROLE_CONST)
        return ((const struct const_attrs *)op->attrs)->shape.dims[axis];
    if (op->def->role == ROLE_PARAMETER) {
        const struct irrun_partial_shape *shape =
            &((const struct parameter_attrs *)op->attrs)->shape;
        return shape->min[axis] == shape->max[axis] ? shape->max[axis] : -1;
    }
    return graph->values[value_id].dims_hint[axis];
}

/* ---- refused ops ---- */

/* Adds an op to the error: the first op as `model.xml:12:3: ReduceMean "mean" …`, and each later op
 * on its own line. */
bool time_refuse(struct time_op *t, const char *format, ...)
{
    struct time_walk *walk = t->walk;
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (walk->is_trial || walk->n_refused++ >= MAX_REPORTED)
        return false;
    const char *name = t->op->name, *type = t->op->def->type;
    if (walk->n_refused == 1)
        fail_at(walk->err, IRRUN_UNSUPPORTED, op_place(t->graph, t->op),
                "the model cannot run in chunks: %s \"%.200s\" %s", type, name, why);
    else
        fail_append(walk->err, "\n  %s \"%.200s\" (line %u) %s", type, name, t->op->line, why);
    return false;
}

bool time_check_operand(struct time_op *t, uint32_t i, uint32_t axis)
{
    uint32_t value_id = op_input(t->graph, t->op, i);
    const struct op *source = value_producer(t->graph, value_id);
    int64_t dim = time_dim(t->graph, value_id, axis);
    if (dim == 1 || t->walk->is_trial)
        return true;
    if (t->walk->operand == NO_ID) {
        t->walk->operand = value_id;
        t->walk->operand_axis = axis;
    }
    if (dim < 0)
        return time_refuse(
            t, "combines each frame with \"%.200s\" (line %u), whose dimension %u is dynamic",
            source->name, source->line, axis);
    return time_refuse(
        t, "combines each frame with \"%.200s\" (line %u), which has size %lld along dimension %u",
        source->name, source->line, (long long)dim, axis);
}

bool time_check_others(struct time_op *t, uint32_t data)
{
    if (t->first != data)
        return time_refuse(t, "depends on time in input %u", t->first);
    for (uint32_t i = 0; i < t->op->n_inputs; i++)
        if (i != data && time_input(t, i)->kind != TIME_NONE)
            return time_refuse(t, "depends on time in input %u too", i);
    return true;
}

/* ---- all ops ---- */

static void set_all(struct time_walk *walk, const struct op *op, enum time_kind kind)
{
    for (uint32_t i = 0; i < op->n_outputs; i++)
        walk->uses[op->first_output + i] = (struct time_use){.kind = kind};
}

static const struct rule *find_rule(const struct op_def *def)
{
    static const struct rule elementwise = {"", time_rule_elementwise, false};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].type, def->type) == 0)
            return &rules[i];
    return def->flags & OP_ELEMENTWISE ? &elementwise : NULL;
}

/* Returns the input that determines how the op depends on time: a refused one, otherwise the first
 * with the time axis, otherwise the first that depends on time; NO_ID if there is none. */
static uint32_t find_input(const struct time_op *t)
{
    uint32_t found = NO_ID;
    for (uint32_t i = 0; i < t->op->n_inputs; i++) {
        enum time_kind kind = time_input(t, i)->kind;
        if (kind == TIME_REFUSED)
            return i;
        if (kind != TIME_NONE &&
            (found == NO_ID || (kind == TIME_ALONG && time_input(t, found)->kind != TIME_ALONG)))
            found = i;
    }
    return found;
}

/* The rule for an op whose inputs do not have the time axis, but depend on the number of frames or
 * on the last frame. A list that is computed from the number of frames does not depend on it if
 * none of its elements does. */
static bool visit_without_axis(struct time_op *t)
{
    struct time_items items;
    bool has_length = false, has_last = false, has_frames = false, has_variable = false;
    for (uint32_t i = 0; i < t->op->n_inputs; i++) {
        has_variable |= time_input(t, i)->reads_variable;
        has_length |= time_input(t, i)->kind == TIME_LENGTH;
        has_last |= time_input(t, i)->kind == TIME_LAST;
    }
    if (has_length && has_last)
        return time_refuse(t, "depends on the number of frames");
    enum time_kind kind = has_last ? TIME_LAST : TIME_LENGTH;
    if (has_length && op_is_type(t->op, "Broadcast") && time_input(t, 0)->kind == TIME_NONE &&
        time_items_find(t->walk, op_input(t->graph, t->op, 1), &items))
        return time_broadcast_to_frames(t, &items);
    if (has_length && t->op->n_outputs == 1 &&
        time_items_find(t->walk, t->op->first_output, &items)) {
        for (uint32_t i = 0; i < items.n; i++)
            has_frames |= items.items[i].kind == TIME_ITEM_FRAMES;
        kind = has_frames ? TIME_LENGTH : TIME_NONE;
    }
    set_all(t->walk, t->op, kind);
    for (uint32_t i = 0; i < t->op->n_outputs; i++)
        t->out[i].reads_variable = has_variable;
    return true;
}

static bool check_result(struct time_op *t)
{
    const struct time_use *in = time_input(t, 0);
    if (in->kind == TIME_LENGTH)
        return time_refuse(t, "is computed from the number of frames");
    if (in->kind == TIME_ALONG && in->outer != 1)
        return time_refuse(t, "has the frames of a batch one after the other in dimension %u",
                           in->axis);
    return !in->reads_variable || time_refuse(t, "reads a variable, which each chunk may change");
}

/* Returns whether the Assign writes the value that a ReadValue of its variable reads. */
static bool keeps_variable(const struct time_op *t)
{
    const struct op *read =
        value_producer(t->graph, recurrence_skip_reshapes(t->graph, op_input(t->graph, t->op, 0)));
    const struct read_value_attrs *read_attrs = read->attrs;
    const struct assign_attrs *assign_attrs = t->op->attrs;
    return read->def->role == ROLE_READ_VALUE &&
           strcmp(read_attrs->variable_id, assign_attrs->variable_id) == 0;
}

static bool check_assign(struct time_op *t)
{
    const struct time_use *in = time_input(t, 0);
    if (in->kind == TIME_ALONG || in->kind == TIME_LENGTH)
        return time_refuse(t, "keeps a value that grows with the number of frames");
    if (in->reads_variable && !keeps_variable(t))
        return time_refuse(t, "keeps a value that is computed once for each chunk");
    set_all(t->walk, t->op, in->kind);
    return true;
}

/* Checks that inputs with the time axis have a shape in the XML. A port without dimensions is 0-D
 * or of any rank. */
static bool check_ranks(struct time_op *t)
{
    for (uint32_t i = 0; i < t->op->n_inputs; i++) {
        const struct time_use *use = time_input(t, i);
        uint32_t rank = time_input_rank(t, i);
        if (use->kind == TIME_ALONG && (rank <= use->axis || rank > IRRUN_MAX_RANK))
            return time_refuse(t, "has no shape in the XML for input %u", i);
    }
    return true;
}

static bool visit_ordinary(struct time_op *t)
{
    uint32_t i = find_input(t);
    if (i == NO_ID) {
        set_all(t->walk, t->op, TIME_NONE);
        return true;
    }
    if (time_input(t, i)->kind == TIME_REFUSED) {
        set_all(t->walk, t->op, TIME_REFUSED);
        return true;
    }
    if (time_input(t, i)->kind != TIME_ALONG)
        return visit_without_axis(t);
    const struct rule *rule = find_rule(t->op->def);
    t->first = i;
    t->in = *time_input(t, i);
    if (!rule)
        return time_refuse(t, "may mix frames: irrun has no rule for it");
    return check_ranks(t) && (!rule->is_unary || time_check_others(t, 0)) && rule->run(t);
}

static bool visit(struct time_walk *walk, const struct op *op)
{
    struct time_op t = {
        .walk = walk, .graph = walk->graph, .op = op, .out = walk->uses + op->first_output};
    switch (op->def->role) {
    case ROLE_PARAMETER:
        return true;
    case ROLE_CONST:
        set_all(walk, op, TIME_NONE);
        return true;
    case ROLE_READ_VALUE:
        set_all(walk, op, TIME_LAST);
        t.out[0].reads_variable = true;
        return true;
    case ROLE_RESULT:
        return check_result(&t);
    case ROLE_ASSIGN:
        return check_assign(&t);
    default:
        return visit_ordinary(&t);
    }
}

bool time_walk_run(struct time_walk *walk)
{
    const struct graph *graph = walk->graph;
    walk->n_refused = 0;
    walk->n_reshapes = 0;
    walk->operand = NO_ID;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (visit(walk, op))
            continue;
        if (walk->err->code == IRRUN_SYSTEM)
            return false;
        set_all(walk, op, TIME_REFUSED);
    }
    return walk->n_refused == 0;
}
