/* Makes plans in this order: inference, steps, memory. Also makes the continuations of plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/huge_pages.h"

/* Allocates the block of the plan. A block that is too small is replaced with one of 1.5 times the
 * needed size if there is enough memory, because shapes that have grown once often grow again. */
static bool allocate_block(struct plan *plan, struct irrun_error *err)
{
    size_t min_bytes = plan->block_bytes > 0 ? plan->block_bytes : 64, preferred = 0;
    if (min_bytes <= plan->block_capacity)
        return true;
    if (plan->block_capacity > 0 && !plan->has_room &&
        !checked_add(min_bytes, min_bytes / 2, &preferred))
        preferred = 0;
    free(plan->block);
    plan->block_capacity = 0;
    plan->block = huge_alloc_at_least(plan->arena.size_bytes, min_bytes, preferred,
                                      &plan->block_capacity, err);
    return plan->block != NULL;
}

bool plan_copy_request(struct plan *plan, const struct plan_request *request,
                       struct irrun_error *err)
{
    plan->request = *request;
    uint32_t n = request->graph->n_parameters, n_variables = request->model->n_variables;
    struct irrun_tensor *tensors = arena_alloc_array(plan->op_arena, n, sizeof *tensors, err);
    const struct irrun_tensor **in = arena_alloc_array(plan->op_arena, n, sizeof *in, err);
    bool *is_constant = arena_alloc_array(plan->op_arena, n, sizeof *is_constant, err);
    struct variable_state *variables =
        arena_alloc_array(plan->op_arena, n_variables, sizeof *variables, err);
    if (!tensors || !in || !is_constant || !variables)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        tensors[i] = *request->in[i];
        in[i] = &tensors[i];
        is_constant[i] = request->is_constant && request->is_constant[i];
        if (!is_constant[i])
            tensors[i].data = NULL;
    }
    if (n_variables > 0)
        memcpy(variables, request->variables, n_variables * sizeof *variables);
    plan->request.in = in;
    plan->request.is_constant = is_constant;
    plan->request.variables = variables;
    return true;
}

/* Sets a slot to its state before planning. If the memory comes from an earlier plan, slots of the
 * model's constants keep their tensors. */
static void init_slot(struct plan *plan, uint32_t id, bool is_new)
{
    struct slot *slot = &plan->slots[id];
    const struct constant *constant = plan->request.graph->analysis->constants[id];
    if (!constant || is_new)
        *slot =
            (struct slot){.root = id, .parent = NO_ID, .is_varying = !is_new && slot->is_varying};
    if (constant && is_new) {
        slot->kind = SLOT_CONSTANT;
        slot->tensor = constant->tensor;
        slot->declared = constant->declared;
    }
    slot->gets_room = slot->is_varying;
    plan->has_room |= slot->gets_room;
    slot->is_varying = false;
    slot->converted = slot->first_step = NO_ID;
    slot->last_step = 0;
    slot->is_needed = false;
    slot->runs = (struct runs){0};
    slot->append = NULL;
}

static bool allocate_tables(struct plan *plan, struct irrun_error *err)
{
    const struct graph *graph = plan->request.graph;
    bool is_new = !plan->slots;
    if (is_new) {
        plan->slots_capacity = graph->n_values;
        plan->slots = new_array(graph->n_values, sizeof *plan->slots, err);
        if (!plan->slots)
            return false;
    }
    plan->n_slots = graph->n_values;
    for (uint32_t i = 0; i < graph->n_values; i++)
        init_slot(plan, i, is_new);
    plan->planned =
        arena_alloc_array(&plan->arena, graph->n_order - plan->begin, sizeof *plan->planned, err);
    plan->results = arena_alloc_array(&plan->arena, graph->n_results, sizeof *plan->results, err);
    if (!plan->planned || !plan->results)
        return false;
    for (uint32_t i = 0; i < graph->n_results; i++)
        plan->results[i] = NO_ID;
    return true;
}

/* Makes the slots of the outer plan available to this one. */
static void inherit_slots(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->request.graph->n_values; i++) {
        const struct slot *outer = &plan->outer->slots[i];
        struct slot *slot = &plan->slots[i];
        if (outer->kind == SLOT_NONE)
            continue;
        slot->tensor = outer->tensor;
        slot->declared = outer->declared;
        slot->kind = outer->kind == SLOT_CONSTANT ? SLOT_CONSTANT : SLOT_OUTER;
        slot->index = i;
    }
}

/* Frees the continuations and the runners of bodies. */
static void free_parts(struct plan *plan)
{
    plan_set_free(&plan->continuations);
    for (size_t i = 0; i < plan->n_runners; i++)
        runner_free(plan->runners[i].runner);
}

static void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    free_parts(plan);
    free(plan->runners);
    free(plan->uses);
    free(plan->moving_operands);
    free(plan->slots);
    free(plan->block);
    arena_free(&plan->head_arena);
    arena_free(&plan->varying_arena);
    arena_free(&plan->temporary);
    arena_free(&plan->arena);
    free(plan);
}

/* Empties a plan but keeps its memory. */
static void empty_plan(struct plan *plan)
{
    free_parts(plan);
    arena_reset(&plan->arena);
    arena_reset(&plan->head_arena);
    arena_reset(&plan->varying_arena);
    arena_reset(&plan->temporary);
    *plan = (struct plan){.arena = plan->arena,
                          .varying_arena = plan->varying_arena,
                          .head_arena = plan->head_arena,
                          .temporary = plan->temporary,
                          .runners = plan->runners,
                          .runners_capacity = plan->runners_capacity,
                          .slots = plan->slots,
                          .slots_capacity = plan->slots_capacity,
                          .uses = plan->uses,
                          .uses_capacity = plan->uses_capacity,
                          .moving_operands = plan->moving_operands,
                          .moving_operands_capacity = plan->moving_operands_capacity,
                          .block = plan->block,
                          .block_capacity = plan->block_capacity};
}

/* Returns an empty plan, in the memory of `old` or in new memory. */
static struct plan *new_plan(struct plan *old, struct irrun_error *err)
{
    if (old) {
        empty_plan(old);
        return old;
    }
    return new_array(1, sizeof(struct plan), err);
}

static struct plan *make_plan(const struct plan_request *request, struct plan *outer,
                              const struct head *head, struct plan *old, struct irrun_error *err)
{
    struct plan *plan = new_plan(old, err);
    if (!plan)
        return NULL;
    plan->outer = outer;
    plan->begin = outer ? outer->end : 0;
    plan->op_arena = &plan->arena;
    bool is_done = plan_copy_request(plan, request, err) && allocate_tables(plan, err);
    if (is_done && outer)
        inherit_slots(plan);
    if (!is_done || !plan_infer(plan, head, err) || !plan_make_steps(plan, err) ||
        !allocate_block(plan, err) || !plan_bind(plan, err)) {
        plan_free(plan);
        return NULL;
    }
    return plan;
}

struct plan *plan_new(const struct plan_request *request, struct plan *old, struct irrun_error *err)
{
    if (old && plan_update(old, request))
        return old;
    return make_plan(request, NULL, NULL, old, err);
}

/* ---- sets ---- */

struct plan *plan_set_evict(struct plan_set *set, const struct plan *in_use, bool is_newest)
{
    if (set->n < (is_newest ? PLAN_SET_GROWN : PLAN_SET_MAX))
        return NULL;
    uint32_t victim =
        is_newest ? set->n - 1 - (set->items[set->n - 1] == in_use) : set->items[0] == in_use;
    struct plan *plan = set->items[victim];
    set->n--;
    memmove(&set->items[victim], &set->items[victim + 1], (set->n - victim) * sizeof *set->items);
    return plan;
}

void plan_set_free(struct plan_set *set)
{
    for (uint32_t i = 0; i < set->n; i++)
        plan_free(set->items[i]);
    set->n = 0;
}

/* ---- continuations ---- */

static bool outputs_match(const struct plan *plan, const struct op *op,
                          const struct irrun_tensor *out)
{
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const struct slot *slot = &plan->slots[op->first_output + k];
        if (slot->declared != out[k].dtype || !shape_equals(&slot->tensor.shape, &out[k].shape))
            return false;
    }
    return true;
}

/* Reuses a continuation for the same shapes, with the state that infer filled in this iteration.
 * Sets *is_usable to false if its block is too small for the scratch memory of the op. */
static bool reuse(struct plan *plan, const struct op *op, void *state, bool *is_usable,
                  struct irrun_error *err)
{
    *is_usable = true;
    if (!plan->first_step)
        return true;
    uint32_t *slots = arena_alloc_array(&plan->outer->head_arena,
                                        (size_t)op->n_inputs + op->n_outputs, sizeof *slots, err);
    if (!slots)
        return false;
    const struct step *step = plan->first_step;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        slots[i] = (uint32_t)(slot_of(step->in[i]) - plan->slots);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        slots[op->n_inputs + k] = op->first_output + k;
    struct prepared made;
    plan->op_arena = &plan->outer->head_arena;
    bool is_done = plan_prepare_op(plan, op, state, slots, slots + op->n_inputs,
                                   plan->head_prepacked, &made, err);
    plan->op_arena = &plan->arena;
    if (!is_done)
        return false;
    *is_usable = made.scratch_bytes <= plan->scratch_bytes;
    plan->first_step->state = state;
    plan->first_step->flat = made.flat;
    if (plan->main_first_step) {
        plan->main_first_step->state = state;
        plan->main_first_step->flat = made.flat;
    }
    return true;
}

struct plan *plan_continue(struct plan *plan, struct irrun_error *err)
{
    const struct graph *graph = plan->request.graph;
    const struct op *op = &graph->ops[graph->order[plan->end]];
    arena_reset(&plan->head_arena);
    struct irrun_tensor *out =
        arena_alloc_array(&plan->head_arena, op->n_outputs, sizeof *out, err);
    void *state = arena_alloc(&plan->head_arena, op->def->state_size, err);
    int64_t *views;
    bool is_waiting;
    plan->op_arena = &plan->head_arena;
    bool is_done =
        out && state &&
        plan_infer_op(plan, op, state, out, true, &plan->head_arena, &views, &is_waiting, err);
    plan->op_arena = &plan->arena;
    if (!is_done)
        return NULL;
    for (uint32_t i = 0; i < plan->continuations.n; i++) {
        struct plan *next = plan->continuations.items[i];
        bool is_usable;
        if (!outputs_match(next, op, out))
            continue;
        if (!reuse(next, op, state, &is_usable, err))
            return NULL;
        if (is_usable)
            return next;
    }
    struct plan *old = plan_set_evict(&plan->continuations, NULL, false);
    struct plan *next = make_plan(&plan->request, plan, &(struct head){state, out}, old, err);
    if (next)
        plan->continuations.items[plan->continuations.n++] = next;
    return next;
}
