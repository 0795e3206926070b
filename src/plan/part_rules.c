/* Rules for ops that compute each position of an axis independently: which inputs such an op reads
 * at one position only to compute one position of its output.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/part_rules.h"

#include "ops/op_state.h"
#include "plan/graph_ints.h"
#include "plan/model.h"

/* A slice whose end is at least this ends with the axis. */
#define END_MIN INT32_MAX

/* ---- slices of the model --------------------------------------------------------------------- */

/* Sets the part of an axis that the range begin:end selects. Uses the rank in the XML, which the
 * inserted slice checks. */
static bool set_part(const struct graph *graph, const struct op *op, int64_t axis, int64_t begin,
                     int64_t end, struct part *part)
{
    int64_t rank = graph->values[op_input(graph, op, 0)].rank_hint;
    if (axis < -IRRUN_MAX_RANK)
        return false;
    axis = axis < 0 ? -axis : rank - axis;
    if (axis < 2 || axis > rank) /* each element of a product is a sum along the last axis */
        return false;
    part->axis = (uint32_t)axis;
    part->kind = begin == 0 && end == 1          ? PART_FIRST
                 : begin == -1 && end >= END_MIN ? PART_LAST
                                                 : PART_WHOLE;
    return part->kind != PART_WHOLE;
}

/* The lists in inputs 1 to 4 of a Slice or StridedSlice. */
enum slice_list { BEGINS, ENDS, STEPS, AXES, N_LISTS };

/* Reads all inputs except input 0. They must be constant lists of the same length. */
static bool read_lists(const struct graph *graph, const struct op *op,
                       int64_t lists[N_LISTS][IRRUN_MAX_RANK], uint32_t *n)
{
    uint32_t n_item;
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        if (i > N_LISTS ||
            !graph_ints(graph, op_input(graph, op, i), lists[i - 1], IRRUN_MAX_RANK, &n_item) ||
            (i > 1 && n_item != *n))
            return false;
        *n = n_item;
    }
    return op->n_inputs > 2;
}

static bool find_slice(const struct graph *graph, const struct op *op, struct part *part)
{
    int64_t lists[N_LISTS][IRRUN_MAX_RANK];
    uint32_t n;
    bool is_found = false;
    if (!read_lists(graph, op, lists, &n))
        return false;
    for (uint32_t i = 0; i < n && !is_found; i++)
        is_found =
            lists[STEPS][i] == 1 && set_part(graph, op, op->n_inputs == 5 ? lists[AXES][i] : i,
                                             lists[BEGINS][i], lists[ENDS][i], part);
    return is_found;
}

static bool find_strided_slice(const struct graph *graph, const struct op *op, struct part *part)
{
    int64_t lists[N_LISTS][IRRUN_MAX_RANK]; /* no AXES */
    uint32_t n;
    bool is_found = false;
    if (!read_lists(graph, op, lists, &n))
        return false;
    for (uint32_t i = 0; i < n && !is_found; i++) {
        if (i64_list_is_set(op_attr(op, "ellipsis_mask"), i) ||
            i64_list_is_set(op_attr(op, "new_axis_mask"), i))
            return false;
        int64_t begin = i64_list_is_set(op_attr(op, "begin_mask"), i) ? 0 : lists[BEGINS][i];
        int64_t end = i64_list_is_set(op_attr(op, "end_mask"), i) ? INT64_MAX : lists[ENDS][i];
        if (i64_list_is_set(op_attr(op, "shrink_axis_mask"), i))
            end = begin == 0 ? 1 : INT64_MAX;
        is_found =
            (op->n_inputs < 4 || lists[STEPS][i] == 1) && set_part(graph, op, i, begin, end, part);
    }
    return is_found;
}

static bool find_gather(const struct graph *graph, const struct op *op, struct part *part)
{
    const int64_t *batch_dims = op_attr(op, "batch_dims");
    int64_t index, axis;
    uint32_t n;
    return (!batch_dims || *batch_dims == 0) &&
           graph_ints(graph, op_input(graph, op, 1), &index, 1, &n) &&
           graph_ints(graph, op_input(graph, op, 2), &axis, 1, &n) &&
           set_part(graph, op, axis, index, index == 0 ? 1 : INT64_MAX, part);
}

bool part_of_slice(const struct graph *graph, const struct op *op, struct part *part)
{
    return op_is_type(op, "Slice")          ? find_slice(graph, op, part)
           : op_is_type(op, "StridedSlice") ? find_strided_slice(graph, op, part)
           : op_is_type(op, "Gather")       ? find_gather(graph, op, part)
                                            : false;
}

/* ---- ops that compute each position independently -------------------------------------------- */

/* See part_inputs. */
typedef uint32_t rule_fn(const struct graph *graph, const struct op *op, uint32_t axis);

/* Constants that are broadcast along the axis are read as a whole. */
static uint32_t rule_elementwise(const struct graph *graph, const struct op *op, uint32_t axis)
{
    const int *broadcast = op_attr(op, "auto_broadcast");
    uint32_t inputs = 0;
    if (broadcast && *broadcast == AUTO_BROADCAST_PDPD)
        return 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const struct constant *constant = graph->analysis->constants[op_input(graph, op, i)];
        const struct irrun_shape *shape = constant ? &constant->tensor.shape : NULL;
        bool is_broadcast = shape && (shape->rank < axis || shape->dims[shape->rank - axis] == 1);
        inputs |= is_broadcast ? 0 : 1U << i;
    }
    return inputs;
}

static uint32_t rule_matmul(const struct graph *graph, const struct op *op, uint32_t axis)
{
    const struct matmul_attrs *attrs = op->attrs;
    const struct constant *weights = graph->analysis->constants[op_input(graph, op, 1)];
    return axis > 1 && !attrs->transpose_a && weights && weights->tensor.shape.rank == 2;
}

static bool is_different_axis(int64_t axis, uint32_t axis_of_part)
{
    return axis < 0 && axis != -(int64_t)axis_of_part;
}

/* For ops over the axes that input 1 lists. The axis of the part is counted from the end, so that
 * only negative axes are known to differ from it. */
static uint32_t rule_axes(const struct graph *graph, const struct op *op, uint32_t axis)
{
    const bool *keeps_dims = op_attr(op, "keep_dims");
    int64_t axes[IRRUN_MAX_RANK];
    uint32_t n;
    if ((keeps_dims && !*keeps_dims) || op->n_inputs != 2 ||
        !graph_ints(graph, op_input(graph, op, 1), axes, IRRUN_MAX_RANK, &n))
        return 0;
    bool are_different = true;
    for (uint32_t i = 0; i < n; i++)
        are_different &= is_different_axis(axes[i], axis);
    return are_different;
}

static uint32_t rule_axis_attribute(const struct graph *graph, const struct op *op, uint32_t axis)
{
    (void)graph;
    return is_different_axis(*(const int64_t *)op_attr(op, "axis"), axis);
}

static const struct {
    const char *type;
    rule_fn *rule;
} rules[] = {
    {"MatMul", rule_matmul},
    {"MVN", rule_axes},
    {"NormalizeL2", rule_axes},
    {"ReduceL1", rule_axes},
    {"ReduceL2", rule_axes},
    {"ReduceMax", rule_axes},
    {"ReduceMean", rule_axes},
    {"ReduceMin", rule_axes},
    {"ReduceSum", rule_axes},
    {"SoftMax", rule_axis_attribute},
    {"LogSoftmax", rule_axis_attribute},
};

/* Returns the rule of an op, or NULL if the op may need more than one position. */
static rule_fn *find_rule(const struct op *op)
{
    if (op->def->flags & OP_ELEMENTWISE)
        return op->n_inputs <= 32 ? rule_elementwise : NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (op_is_type(op, rules[i].type))
            return rules[i].rule;
    return NULL;
}

bool part_keeps_rank(const struct op *op)
{
    const bool *keeps_dims = op_attr(op, "keep_dims");
    return find_rule(op) && (!keeps_dims || *keeps_dims);
}

uint32_t part_inputs(const struct graph *graph, const struct op *op, uint32_t axis)
{
    rule_fn *rule = find_rule(op);
    return rule ? rule(graph, op, axis) : 0;
}
