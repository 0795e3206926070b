/* Avoids copying a variable that only grows (ReadValue [-> Gather] -> Concat -> Assign), and a
 * matrix that a Broadcast repeats. All ops that read the value must be able to read the memory of
 * the variable, or of the matrix before the Broadcast (slot.original).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "base/memory_limit.h"
#include "ops/op_state.h"
#include "plan/graph_ints.h"
#include "plan/plan_internal.h"

#define SPARE_LENGTH 32 /* reserved along the axis, in addition to half of the length */

bool plan_reads_original(const struct plan *plan, const struct op *op, uint32_t i)
{
    const struct slot *slot = plan_input(plan, op, i);
    const struct irrun_shape *shape = &slot->tensor.shape;
    return i < 32 && op->def->strided_inputs >> i & 1 && slot->runs.count > 0 && shape->rank >= 2 &&
           slot->runs.length == (size_t)shape_product(shape, shape->rank - 2, shape->rank);
}

uint32_t plan_operand(const struct plan *plan, const struct op *op, uint32_t i)
{
    uint32_t value_id = op_input(plan->request.graph, op, i);
    return plan_reads_original(plan, op, i) ? plan->slots[value_id].original : value_id;
}

uint32_t plan_original_inputs(const struct plan *plan, const struct op *op)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < op->n_inputs && op->def->strided_inputs != 0; i++)
        if (plan_reads_original(plan, op, i))
            set |= 1U << i;
    return set;
}

/* ---- finding Concats that append ------------------------------------------------------------- */

/* Returns whether this plan, not an outer one, computes output 0 of an op or reads it from a
 * variable. */
static bool is_planned_here(const struct plan *plan, const struct op *op)
{
    const struct slot *slot = &plan->slots[op->first_output];
    return slot->kind == SLOT_BLOCK ||
           (op->def->role == ROLE_READ_VALUE && slot->kind == SLOT_VARIABLE);
}

/* Returns whether an op is a Gather-8 along dimension 0 with batch_dims 0 and indices of rank 1. */
static bool is_beam_gather(const struct plan *plan, const struct op *gather)
{
    const struct graph *graph = plan->request.graph;
    const struct irrun_shape *indices = &plan_input(plan, gather, 1)->tensor.shape;
    int64_t axis;
    uint32_t n;
    return op_is_type(gather, "Gather") && gather->def->opset == 8 &&
           ((const struct gather_attrs *)gather->attrs)->batch_dims == 0 && indices->rank == 1 &&
           graph_ints(graph, op_input(graph, gather, 2), &axis, 1, &n) && axis == 0;
}

/* The ops ReadValue [-> Gather] -> Concat -> Assign, and the axis of the Concat. */
struct chain {
    const struct op *read, *gather, *concat;
    uint32_t axis;
};

/* Matches the chain that ends in an Assign. */
static bool match_chain(const struct plan *plan, const struct op *assign, struct chain *chain)
{
    const struct graph *graph = plan->request.graph;
    const struct op *concat = value_producer(graph, op_input(graph, assign, 0));
    if (!op_is_type(concat, "Concat") || concat->n_inputs != 2 || !is_planned_here(plan, concat))
        return false;
    const struct op *first = value_producer(graph, op_input(graph, concat, 0));
    *chain = (struct chain){.read = first, .concat = concat};
    if (first->def->role != ROLE_READ_VALUE) {
        if (!op_is_type(first, "Gather") || !is_beam_gather(plan, first))
            return false;
        chain->gather = first;
        chain->read = value_producer(graph, op_input(graph, first, 0));
    }
    if (chain->read->def->role != ROLE_READ_VALUE || !is_planned_here(plan, chain->read) ||
        (chain->gather && !is_planned_here(plan, chain->gather)) ||
        plan_index(plan, chain->read) != plan_index(plan, assign) ||
        plan->request.model->variables[plan_index(plan, assign)].n_reads != 1)
        return false;
    const struct slot *result = &plan->slots[concat->first_output];
    int64_t axis = ((const struct concat_attrs *)concat->attrs)->axis;
    chain->axis = (uint32_t)(axis + (axis < 0 ? result->tensor.shape.rank : 0));
    enum irrun_dtype dtype = result->declared;
    return (!chain->gather || chain->axis > 0) && !dtype_is_half(dtype) && dtype_size(dtype) > 0 &&
           dtype == plan->slots[chain->read->first_output].declared;
}

/* Returns the capacity of the variable as a length along the axis: the current capacity if it is at
 * least `length`, otherwise more than `length` if memory allows. n_bytes: size of all elements at
 * one index of the axis. */
static size_t choose_capacity(const struct plan *plan, uint32_t variable, size_t length,
                              size_t n_bytes)
{
    size_t capacity = plan->request.variables[variable].capacity_bytes / n_bytes;
    size_t more = length + length / 2 + SPARE_LENGTH, size_bytes;
    struct irrun_error ignored = {0};
    if (capacity >= length)
        return capacity;
    return checked_mul(more, n_bytes, &size_bytes) && size_bytes < memory_limit() / 8 &&
                   memory_check(0, size_bytes, &ignored)
               ? more
               : length;
}

bool plan_size_append(struct plan *plan, struct append *append)
{
    struct slot *result = &plan->slots[append->result];
    const struct irrun_shape *before = &plan->slots[append->state].tensor.shape;
    const struct irrun_shape *after = &result->tensor.shape;
    uint32_t axis = append->axis;
    size_t inner = (size_t)shape_product(after, axis + 1, after->rank);
    size_t inner_bytes = inner * dtype_size(result->tensor.dtype);
    size_t length = (size_t)after->dims[axis], old_length = (size_t)before->dims[axis];
    append->n_rows = (size_t)shape_product(after, 0, axis);
    if (inner_bytes == 0 || append->n_rows == 0 || length == 0)
        return false;
    append->old_rows = (size_t)shape_product(before, 0, axis);
    append->rows_per_index = (size_t)shape_product(after, 1, axis);
    append->old_bytes = old_length * inner_bytes;
    append->added_bytes = (length - old_length) * inner_bytes;
    append->stride_bytes =
        choose_capacity(plan, append->variable, length, append->n_rows * inner_bytes) * inner_bytes;
    result->runs = (struct runs){length * inner, 1};
    return true;
}

static bool add_append(struct plan *plan, const struct op *assign, struct irrun_error *err)
{
    const struct graph *graph = plan->request.graph;
    struct chain chain;
    if (!match_chain(plan, assign, &chain))
        return true;
    struct slot *state = &plan->slots[chain.read->first_output];
    struct slot *result = &plan->slots[chain.concat->first_output];
    if (result->append)
        return true;
    struct append *append = arena_alloc(&plan->arena, sizeof *append, err);
    if (!append)
        return false;
    *append = (struct append){.variable = plan_index(plan, assign),
                              .axis = chain.axis,
                              .state = chain.read->first_output,
                              .added = op_input(graph, chain.concat, 1),
                              .indices = chain.gather ? op_input(graph, chain.gather, 1) : NO_ID,
                              .result = chain.concat->first_output};
    if (!plan_size_append(plan, append))
        return true;
    state->append = result->append = append;
    if (chain.gather)
        plan->slots[chain.gather->first_output].append = append;
    result->original = append->result;
    append->next = plan->appends;
    plan->appends = append;
    return true;
}

/* ---- checking the ops that read the values --------------------------------------------------- */

bool plan_propagate_original(struct plan *plan, const struct planned_op *planned)
{
    const struct op *op = planned->op;
    struct slot *out = &plan->slots[op->first_output], *in = plan_input(plan, op, 0);
    struct runs runs;
    bool is_same = (planned->is_view || op->def->role == ROLE_ASSIGN) && op->n_outputs == 1 &&
                   in->runs.count > 0 &&
                   shape_n_elements(&in->tensor.shape) == shape_n_elements(&out->tensor.shape);
    if (is_same) {
        runs = in->runs;
    } else if (!op->def->repeats || !op->def->repeats(planned->state, &runs)) {
        return false;
    } else if (in->runs.count == 0) {
        in->original = op_input(plan->request.graph, op, 0);
    } else if (in->runs.count != 1 || in->runs.length != runs.length) {
        return false;
    }
    out->runs = runs;
    out->original = in->original;
    return true;
}

/* Returns whether an op can read its input i in the memory of the variable. */
static bool can_read(const struct plan *plan, const struct op *op, uint32_t i,
                     const struct append *append)
{
    uint32_t value_id = op_input(plan->request.graph, op, i);
    if (value_id != append->result && plan->slots[value_id].append == append)
        return i == 0 && op->n_outputs == 1 && plan->slots[op->first_output].append == append;
    if (op->def->role == ROLE_ASSIGN)
        return plan_index(plan, op) == append->variable;
    return plan_reads_original(plan, op, i);
}

/* Returns the append to the variable that holds the elements of a slot, or NULL. */
static struct append *find_append(const struct plan *plan, const struct slot *slot)
{
    return slot->append || slot->runs.count == 0 ? slot->append
                                                 : plan->slots[slot->original].append;
}

/* Refuses the appends to variables that the op cannot read in place. */
static void check_readers(struct plan *plan, const struct planned_op *planned)
{
    const struct op *op = planned->op;
    bool is_propagated =
        op->n_inputs > 0 && op->n_outputs > 0 && plan_propagate_original(plan, planned);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const struct slot *slot = plan_input(plan, op, i);
        struct append *append = find_append(plan, slot);
        bool is_whole = slot->runs.count > 0; /* otherwise the value before the append */
        bool is_forwarded = i == 0 && is_propagated && is_whole && op->def->role != ROLE_ASSIGN;
        if (append && !is_forwarded && !can_read(plan, op, i, append))
            append->is_refused = true;
    }
}

/* Refuses the appends to variables that a continuation of the plan reads. */
static void refuse_continued(struct plan *plan)
{
    const struct graph *graph = plan->request.graph;
    for (uint32_t i = plan->end; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            struct append *append = find_append(plan, plan_input(plan, op, k));
            if (append)
                append->is_refused = true;
        }
    }
}

static void commit_appends(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->request.graph->n_values; i++) {
        struct slot *slot = &plan->slots[i];
        if (slot->append && slot->append->is_refused)
            slot->append = NULL;
    }
    for (uint32_t i = 0; i < plan->n_planned; i++) {
        const struct op *op = plan->planned[i].op;
        struct slot *slot = &plan->slots[op->first_output];
        if (op->n_outputs != 1 || !slot->append || slot->append->result != op->first_output)
            continue;
        plan->planned[i].append = slot->append;
        slot->kind = SLOT_VARIABLE;
        slot->index = slot->append->variable;
    }
}

bool plan_find_appends(struct plan *plan, struct irrun_error *err)
{
    for (uint32_t i = 0; i < plan->n_planned && !plan->request.is_body; i++)
        if (plan->planned[i].op->def->role == ROLE_ASSIGN &&
            !add_append(plan, plan->planned[i].op, err))
            return false;
    for (uint32_t i = 0; i < plan->n_planned; i++)
        check_readers(plan, &plan->planned[i]);
    refuse_continued(plan);
    commit_appends(plan);
    return true;
}
