/* Computes only the first or last position of an axis where nothing else is read. Visits the ops
 * from last to first, and finds for each value the position that all its readers read. Then inserts
 * slices before the products that can compute this position alone, together with all ops between
 * the product and the readers. The slices of the model stay, and select the only position.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "plan/graph_edit.h"
#include "plan/part_rules.h"

struct slice {
    struct part part;
    uint32_t value_id;
};

struct pass {
    struct model finder; /* finds constants, in memory that is freed after the pass */
    struct graph *graph;
    struct graph_edit edit;
    struct arena *arena;
    const bool *takes_last;
    uint32_t *ranks;      /* for each value: derived from the inputs, or the rank_hint */
    struct part *parts;   /* for each value: the part that is read */
    uint32_t *narrowed;   /* for each op: a set of 1 << i; only a part of input i is read */
    struct slice *slices; /* for each value: the slice of it that was added last */
    struct remarks *remarks;
    struct irrun_error *err;
};

static bool is_same(const struct part *a, const struct part *b)
{
    return a->kind == b->kind && a->axis == b->axis;
}

static bool takes_last(const struct pass *pass, const struct op *result)
{
    const struct graph *graph = pass->graph;
    uint32_t i = 0;
    while (&graph->ops[graph->results[i]] != result)
        i++;
    return pass->takes_last[i] && graph->values[op_input(graph, result, 0)].rank_hint > 2;
}

static bool find_part(const struct pass *pass, const struct op *op, struct part *part)
{
    if (op->n_inputs == 0 || op->def->role != ROLE_RESULT)
        return op->n_inputs > 0 && part_of_slice(pass->graph, op, part);
    *part = (struct part){PART_LAST, 2};
    return takes_last(pass, op);
}

static bool is_product(const struct op *op)
{
    return op_is_type(op, "MatMul");
}

/* ---- finding the ops ------------------------------------------------------------------------- */

/* Records that an op reads `part` of a value. */
static void add_read_part(struct pass *pass, uint32_t value_id, struct part part)
{
    struct part *known = &pass->parts[value_id];
    if (known->kind == PART_UNREAD)
        *known = part;
    else if (!is_same(known, &part))
        known->kind = PART_WHOLE;
}

/* Finds the ranks of the outputs of an op. The ranks of its inputs are known. */
static void find_ranks(struct pass *pass, const struct op *op)
{
    const struct graph *graph = pass->graph;
    const struct parameter_attrs *parameter = op_is_type(op, "Parameter") ? op->attrs : NULL;
    uint32_t rank = parameter ? parameter->shape.rank : 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const struct constant *constant = graph->analysis->constants[op_input(graph, op, i)];
        uint32_t in = constant ? constant->tensor.shape.rank : pass->ranks[op_input(graph, op, i)];
        rank = in > rank ? in : rank;
    }
    for (uint32_t i = op->first_output; i < op->first_output + op->n_outputs; i++)
        pass->ranks[i] = parameter || part_keeps_rank(op) ? rank : graph->values[i].rank_hint;
}

/* Returns whether input 0 has the rank in the XML, which part_of_slice uses to find the axis. */
static bool has_right_rank(const struct pass *pass, const struct op *op)
{
    uint32_t value_id = op_input(pass->graph, op, 0);
    return pass->ranks[value_id] == pass->graph->values[value_id].rank_hint;
}

/* Finds which part of each input the op reads. The readers of its outputs have been visited. */
static void visit(struct pass *pass, uint32_t op_id)
{
    const struct op *op = &pass->graph->ops[op_id];
    struct part whole = {PART_WHOLE, 0}, part = whole;
    uint32_t inputs = 0;
    if (op->n_outputs == 1 && op->n_inputs > 0)
        part = pass->parts[op->first_output];
    if (part.kind == PART_FIRST || part.kind == PART_LAST)
        inputs = pass->narrowed[op_id] = part_inputs(pass->graph, op, part.axis);
    if (inputs == 0 && find_part(pass, op, &part) && has_right_rank(pass, op))
        inputs = 1;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        add_read_part(pass, op_input(pass->graph, op, i), i < 32 && inputs >> i & 1 ? part : whole);
}

/* Returns whether the producer of input i computes only a part, which is the part that the op
 * reads. */
static bool takes_from_producer(const struct pass *pass, const struct op *op, uint32_t i)
{
    const struct value *value = &pass->graph->values[op_input(pass->graph, op, i)];
    return pass->narrowed[value->op_id] != 0 &&
           is_same(&pass->parts[op_input(pass->graph, op, i)], &pass->parts[op->first_output]);
}

/* Clears `narrowed` for ops that are not products and do not follow a product. Returns the total
 * number of inputs of the remaining ops. */
static size_t drop_ops_before_products(struct pass *pass)
{
    const struct graph *graph = pass->graph;
    size_t n = 0;
    for (uint32_t k = 0; k < graph->n_order; k++) {
        const struct op *op = &graph->ops[graph->order[k]];
        uint32_t *inputs = &pass->narrowed[graph->order[k]];
        bool is_kept = is_product(op);
        for (uint32_t i = 0; i < op->n_inputs && i < 32; i++)
            is_kept |= (*inputs >> i & 1) && takes_from_producer(pass, op, i);
        *inputs = is_kept ? *inputs : 0;
        n += *inputs ? op->n_inputs : 0;
    }
    return n;
}

/* ---- inserting slices ------------------------------------------------------------------------ */

/* Adds a slice of a value. rank: the rank that the value must have; 0: any. */
static bool add_slice(struct pass *pass, uint32_t value_id, const struct part *part, uint32_t rank,
                      uint32_t *op_id)
{
    struct one_position_attrs *attrs = arena_alloc(pass->arena, sizeof *attrs, pass->err);
    if (!attrs)
        return false;
    *attrs = (struct one_position_attrs){part->axis, rank, part->kind == PART_LAST};
    *op_id = graph_edit_add(&pass->edit, &op_one_position, attrs,
                            value_producer(pass->graph, value_id), &value_id, 1, 1);
    return true;
}

/* Inserts slices before those narrowed inputs of an op that are computed as a whole. */
static bool slice_inputs(struct pass *pass, uint32_t op_id)
{
    const struct op op = pass->graph->ops[op_id];
    const struct part *part = &pass->parts[op.first_output];
    for (uint32_t i = 0; i < op.n_inputs && i < 32; i++) {
        uint32_t *input = &pass->graph->input_ids[op.first_input + i], added;
        if (!(pass->narrowed[op_id] >> i & 1) || takes_from_producer(pass, &op, i))
            continue;
        struct slice *slice = &pass->slices[*input];
        if (!is_same(&slice->part, part)) {
            if (!add_slice(pass, *input, part, 0, &added))
                return false;
            *slice = (struct slice){*part, pass->graph->ops[added].first_output};
        }
        *input = slice->value_id;
    }
    return !is_product(&op) || pass->narrowed[op_id] == 0 ||
           remarks_add(pass->remarks, pass->arena, pass->err,
                       "MatMul \"%s\" (line %u) computes only the %s position", op.name,
                       (unsigned)op.line, part->kind == PART_LAST ? "last" : "first");
}

/* Inserts a slice between a value of one position and the slice of the model or the Result that
 * reads the value. The inserted slice is a view; it checks that the value has the rank in the
 * XML. */
static bool insert_rank_check(struct pass *pass, uint32_t value_id)
{
    struct graph *graph = pass->graph;
    struct value *value = &graph->values[value_id];
    uint32_t producer_id = value->op_id, added;
    if (!add_slice(pass, value_id, &pass->parts[value_id], value->rank_hint, &added))
        return false;
    uint32_t inner = graph->ops[added].first_output;
    graph_edit_take_over(&pass->edit, producer_id, inner);
    graph_edit_take_over(&pass->edit, added, value_id);
    graph->input_ids[graph->ops[added].first_input] = inner;
    return true;
}

static bool insert_slices(struct pass *pass, uint32_t n_ops)
{
    struct graph *graph = pass->graph;
    for (uint32_t i = 0; i < graph->n_order; i++)
        if (!slice_inputs(pass, graph->order[i]))
            return false;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        struct part part;
        if (pass->narrowed[graph->order[i]] || !find_part(pass, op, &part))
            continue;
        uint32_t value_id = op_input(graph, op, 0), producer_id = graph->values[value_id].op_id;
        if (producer_id < n_ops && pass->narrowed[producer_id] &&
            !insert_rank_check(pass, value_id))
            return false;
    }
    return true;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool run_pass(struct pass *pass, bool *is_changed)
{
    struct graph *graph = pass->graph;
    struct arena *memory = pass->finder.arena;
    uint32_t n_ops = graph->n_ops;
    pass->ranks = arena_alloc_array(memory, graph->n_values, sizeof *pass->ranks, pass->err);
    pass->parts = arena_alloc_array(memory, graph->n_values, sizeof *pass->parts, pass->err);
    pass->slices = arena_alloc_array(memory, graph->n_values, sizeof *pass->slices, pass->err);
    pass->narrowed = arena_alloc_array(memory, n_ops, sizeof *pass->narrowed, pass->err);
    if (!pass->ranks || !pass->parts || !pass->slices || !pass->narrowed ||
        !constants_find_early(&pass->finder, pass->err))
        return false;
    for (uint32_t i = 0; i < graph->n_order; i++)
        find_ranks(pass, &graph->ops[graph->order[i]]);
    for (uint32_t i = graph->n_order; i-- > 0;)
        visit(pass, graph->order[i]);
    size_t n_inputs = drop_ops_before_products(pass), n = n_inputs + graph->n_values;
    *is_changed = n_inputs > 0;
    return !*is_changed || (graph_edit_begin(&pass->edit, graph, pass->arena, n, n, n, pass->err) &&
                            insert_slices(pass, n_ops));
}

static bool has_slices(const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->graph->n_order; i++) {
        const struct op *op = &pass->graph->ops[pass->graph->order[i]];
        struct part part;
        if (find_part(pass, op, &part))
            return true;
    }
    return false;
}

bool early_slices_move(const struct model *model, const bool *takes_last, struct remarks *remarks,
                       struct irrun_error *err)
{
    struct arena memory = {0};
    struct pass pass = {
        .finder = {.graph = model->graph, .arena = &memory, .kernels = model->kernels},
        .graph = model->graph,
        .arena = model->arena,
        .takes_last = takes_last,
        .remarks = remarks,
        .err = err};
    bool is_changed = false;
    if (!has_slices(&pass))
        return true;
    bool is_done = run_pass(&pass, &is_changed);
    model->graph->analysis = NULL;
    arena_free(&memory);
    return is_done && (!is_changed || toposort(model->graph, model->arena, err));
}
