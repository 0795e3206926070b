/* Second pass of planning, continued: makes the steps of ReadValue, Assign, and Concats that
 * append.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/step_builder.h"

bool plan_size_use(struct plan *plan, struct planned_op *planned)
{
    const struct op *op = planned->op;
    const struct append *append = planned->append;
    const struct slot *slot =
        op->def->role == ROLE_READ_VALUE ? &plan->slots[op->first_output] : plan_input(plan, op, 0);
    size_t size_bytes = append ? append->n_rows * append->stride_bytes : 0;
    if (!append && !tensor_size(slot->declared, &slot->tensor.shape, &size_bytes))
        return false;
    plan->uses[planned->use].size_bytes = planned->made.flat.n = size_bytes;
    return true;
}

/* Adds a use of a variable. */
static bool add_use(struct plan *plan, struct planned_op *planned, uint32_t variable,
                    bool is_append, struct irrun_error *err)
{
    planned->use = (uint32_t)plan->n_uses;
    if (!GROW_ARRAY(plan->uses, plan->n_uses, plan->uses_capacity, err))
        return false;
    plan->uses[plan->n_uses++] = (struct variable_use){variable, 0, is_append};
    return plan_size_use(plan, planned) || fail_memory(err, SIZE_MAX);
}

/* Adds the step of a Concat that appends. It has no output tensor; it extends the variable. */
bool step_lower_append(struct step_builder *builder, struct planned_op *planned,
                       struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    const struct append *append = planned->append;
    enum { STATE, ADDED, INDICES, RESULT, N_IDS };
    uint32_t *ids = arena_alloc_array(&plan->arena, N_IDS, sizeof *ids, err);
    if (!ids)
        return false;
    ids[STATE] = append->state;
    ids[ADDED] = step_slot_as(builder, planned->op, append->added,
                              plan->slots[append->result].tensor.dtype, err);
    ids[INDICES] = append->indices;
    ids[RESULT] = append->result;
    uint32_t n_inputs = append->indices == NO_ID ? INDICES : RESULT;
    if (ids[ADDED] == NO_ID || !step_demand_constants(plan, ids + ADDED, n_inputs - 1, 0, err) ||
        !add_use(plan, planned, append->variable, true, err))
        return false;
    planned->made.flat.run = run_append;
    struct pending_step pending = {.made = planned->made,
                                   .op = planned->op,
                                   .state = append,
                                   .source.planned = planned,
                                   .in = ids,
                                   .out = ids + RESULT,
                                   .n_inputs = n_inputs,
                                   .n_outputs = 1,
                                   .is_main = builder->is_main};
    return step_add(builder, &pending, err);
}

/* Returns whether an iteration leaves the op's variable as it is: the Assign of the variable writes
 * the value that a ReadValue of the same variable reads. */
static bool keeps_value(const struct plan *plan, const struct op *op)
{
    const struct graph *graph = plan->request.graph;
    uint32_t variable = plan_index(plan, op);
    const struct variable_decl *decl = &plan->request.model->variables[variable];
    if (plan->request.is_body || !decl->assign || decl->assign_graph != graph)
        return false;
    const struct op *source = value_producer(graph, op_input(graph, decl->assign, 0));
    return source->def->role == ROLE_READ_VALUE && plan_index(plan, source) == variable;
}

/* Adds the step of an Assign or a ReadValue. The step of a ReadValue runs only in iterations that
 * start from initial values. */
bool step_lower_variable(struct step_builder *builder, struct planned_op *planned,
                         struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    const struct op *op = planned->op;
    const struct graph *graph = plan->request.graph;
    bool is_read = op->def->role == ROLE_READ_VALUE;
    struct variable_step *state = arena_alloc(&plan->arena, sizeof *state, err);
    uint32_t *ids = arena_alloc_array(&plan->arena, 2, sizeof *ids, err);
    if (!state || !ids)
        return false;
    state->variable = plan_index(plan, op);
    struct pending_step pending = {.op = op,
                                   .state = state,
                                   .source.planned = planned,
                                   .in = ids,
                                   .out = ids + 1,
                                   .n_inputs = op->n_inputs,
                                   .n_outputs = is_read ? 1 : 0,
                                   .is_main = !is_read};
    if (is_read) {
        builder->is_main = false;
        ids[1] = op->first_output;
    }
    if (op->n_inputs > 0) {
        uint32_t in = op_input(graph, op, 0);
        ids[0] = step_slot_as(builder, op, in, plan->slots[in].declared, err);
        if (ids[0] == NO_ID || !step_demand_constants(plan, ids, 1, 0, err))
            return false;
    }
    bool is_kept = keeps_value(plan, op);
    planned->made.flat.run = is_read ? run_read_value : is_kept ? run_assign_unchanged : run_assign;
    bool is_append = is_kept || (is_read && plan->slots[op->first_output].append);
    if (!add_use(plan, planned, state->variable, is_append, err))
        return false;
    pending.made = planned->made;
    return step_add(builder, &pending, err);
}
