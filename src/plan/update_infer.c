/* Infers the ops of a plan whose inputs vary, as part of an update.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ops/op_state.h"
#include "plan/update_internal.h"

static void mark_varying(struct update *update, struct slot *slot)
{
    update->has_new |= !slot->is_varying;
    slot->is_varying = true;
}

static bool set_shape(struct update *update, struct slot *slot, enum irrun_dtype declared,
                      const struct irrun_shape *shape)
{
    if (slot->declared != declared)
        return false;
    bool is_repeated = slot->runs.count > 0; /* rows of the source may have a different stride */
    if (is_repeated || !shape_equals(&slot->tensor.shape, shape))
        mark_varying(update, slot);
    slot->tensor.shape = *shape;
    return true;
}

/* ---- inference ---- */

static bool update_parameter(struct update *update, const struct op *op)
{
    struct plan *plan = update->plan;
    const struct parameter_attrs *attrs = op->attrs;
    const struct irrun_tensor *in = plan->request.in[plan_index(plan, op)];
    struct slot *slot = &plan->slots[op->first_output];
    return in->dtype == slot->tensor.dtype &&
           (slot->kind != SLOT_CONSTANT || slot->tensor.data == in->data) &&
           set_shape(update, slot, attrs->element_type, &in->shape);
}

static bool update_read_value(struct update *update, const struct op *op)
{
    struct irrun_tensor tensor;
    struct slot *slot = &update->plan->slots[op->first_output];
    return plan_read_value(update->plan, op, &tensor, &update->err) &&
           set_shape(update, slot, tensor.dtype, &tensor.shape);
}

/* Updates the output of an Assign or a Result, which has the shape of its input. */
static bool update_end(struct update *update, const struct op *op)
{
    struct plan *plan = update->plan;
    const struct slot *in = plan_input(plan, op, 0);
    const struct variable_decl *variables = plan->request.model->variables;
    if (op->def->role == ROLE_ASSIGN &&
        !partial_shape_admits(&variables[plan_index(plan, op)].shape, &in->tensor.shape))
        return false;
    return op->n_outputs == 0 ||
           set_shape(update, &plan->slots[op->first_output], in->declared, &in->tensor.shape);
}

static bool is_equal(const struct irrun_tensor *a, const struct irrun_tensor *b)
{
    size_t size_bytes = tensor_n_bytes(a);
    return a->data && a->dtype == b->dtype && shape_equals(&a->shape, &b->shape) &&
           (size_bytes == 0 || memcmp(a->data, b->data, size_bytes) == 0);
}

/* Computes constants of the plan again. A constant whose elements do not change stays in its
 * memory. */
static bool update_constants(struct update *update, const struct op *op, void *state,
                             struct irrun_tensor *out)
{
    struct plan *plan = update->plan;
    if (!plan_fold(plan, op, state, out, &update->err))
        return false;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        struct slot *slot = &plan->slots[op->first_output + k];
        if (!slot->is_varying && is_equal(&slot->tensor, &out[k]))
            continue;
        slot->tensor = out[k];
        mark_varying(update, slot);
    }
    return true;
}

/* Sets the shapes of the outputs, and the offsets of outputs that are views of a part of input
 * 0. */
static bool update_outputs(struct update *update, const struct planned_op *planned,
                           const struct irrun_tensor *out, const int64_t *views)
{
    struct plan *plan = update->plan;
    const struct op *op = planned->op;
    if (planned->is_view != (views != NULL))
        return false;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t id = op->first_output + k;
        struct slot *slot = &plan->slots[id];
        if (!set_shape(update, slot, out[k].dtype, &out[k].shape))
            return false;
        if (!views)
            continue;
        const struct irrun_tensor *in = &plan_input(plan, op, 0)->tensor;
        bool is_part = shape_n_elements(&out[k].shape) != shape_n_elements(&in->shape);
        if (is_part != (slot->root == id))
            return false;
        if (is_part)
            update_offset(update, slot, (size_t)views[k] * dtype_size(in->dtype));
    }
    return true;
}

static bool update_ordinary(struct update *update, const struct varying_op *varying)
{
    struct plan *plan = update->plan;
    const struct op *op = varying->op;
    struct irrun_error *err = &update->err;
    struct arena *arena = plan->op_arena;
    struct irrun_tensor *out = arena_alloc_array(arena, op->n_outputs, sizeof *out, err);
    bool is_constant = !varying->planned;
    void *state =
        is_constant ? arena_alloc(arena, op->def->state_size, err) : varying->planned->state;
    if (!out || !state || op->n_bodies > 0)
        return false;
    memset(state, 0, op->def->state_size);
    bool is_waiting;
    int64_t *views;
    return plan_infer_op(plan, op, state, out, false, arena, &views, &is_waiting, err) &&
           (is_constant ? update_constants(update, op, state, out)
                        : update_outputs(update, varying->planned, out, views));
}

static bool update_op(struct update *update, const struct varying_op *varying)
{
    switch (varying->op->def->role) {
    case ROLE_PARAMETER:
        return update_parameter(update, varying->op);
    case ROLE_READ_VALUE:
        return update_read_value(update, varying->op);
    case ROLE_ASSIGN:
    case ROLE_RESULT:
        return update_end(update, varying->op);
    default:
        return update_ordinary(update, varying);
    }
}

/* ---- finding what varies ---- */

static bool is_op_varying(const struct plan *plan, const struct op *op)
{
    if (op->def->role == ROLE_PARAMETER || op->def->role == ROLE_READ_VALUE ||
        (op->n_outputs > 0 && plan->slots[op->first_output].is_varying))
        return true;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (plan_input(plan, op, i)->is_varying)
            return !plan_is_constant(plan, op);
    return false;
}

static bool has_varying_input(const struct step *step)
{
    for (uint32_t i = 0; i < step->n_inputs; i++)
        if (slot_of(step->in[i])->is_varying)
            return true;
    return false;
}

static bool is_step_varying(const struct plan *plan, uint32_t i)
{
    const struct step_source *source = &plan->sources[i];
    /* Without `planned`, the step is a conversion or a chain, whose output may keep its shape. */
    if (!source->fused)
        return source->planned ? source->planned->is_varying : has_varying_input(&plan->steps[i]);
    for (uint32_t k = 0; k < source->fused->n_members; k++)
        if (source->fused->members[k]->is_varying)
            return true;
    return false;
}

/* Lists all ops that vary, and updates them, except for the first n_updated. */
static bool list_ops(struct update *update, size_t n_updated)
{
    struct plan *plan = update->plan;
    const struct graph *graph = plan->request.graph;
    struct planned_op *planned = plan->planned, *end = planned + plan->n_planned;
    size_t n = 0;
    for (uint32_t i = plan->begin; i < plan->end; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        struct planned_op *own = planned < end && planned->op == op ? planned++ : NULL;
        if (!is_op_varying(plan, op))
            continue;
        if (own)
            own->is_varying = true;
        plan->varying->ops[n] = (struct varying_op){op, own};
        if (n++ >= n_updated && !update_op(update, &plan->varying->ops[n - 1]))
            return false;
    }
    plan->varying->n_ops = n;
    return true;
}

/* Updates the ops that vary, except for the first n_updated, which are up to date. Lists all ops,
 * conversions and steps that vary. */
static bool find_varying(struct update *update, size_t n_updated)
{
    struct plan *plan = update->plan;
    struct varying *varying = plan->varying;
    size_t n_values = plan->request.graph->n_values;
    if (!list_ops(update, n_updated))
        return false;
    varying->n_conversions = varying->n_steps = 0;
    for (size_t i = n_values; i < plan->n_slots; i++) {
        plan->slots[i].is_varying = plan->slots[plan->slots[i].original].is_varying;
        if (plan->slots[i].is_varying)
            varying->conversions[varying->n_conversions++] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < plan->n_steps; i++)
        if (is_step_varying(plan, i))
            varying->steps[varying->n_steps++] = i;
    return true;
}

static bool allocate_varying(struct update *update)
{
    struct plan *plan = update->plan;
    struct arena *arena = &plan->arena;
    struct irrun_error *err = &update->err;
    struct varying *varying = arena_alloc(arena, sizeof *varying, err);
    if (!varying)
        return false;
    size_t n_ops = plan->end - plan->begin, n_conversions = plan->n_slots;
    varying->ops = arena_alloc_array(arena, n_ops, sizeof *varying->ops, err);
    varying->conversions = arena_alloc_array(arena, n_conversions, sizeof(uint32_t), err);
    varying->steps = arena_alloc_array(arena, plan->n_steps, sizeof(uint32_t), err);
    plan->varying = varying;
    update->has_new = true;
    return varying->ops && varying->conversions && varying->steps;
}

bool update_infer(struct update *update)
{
    struct plan *plan = update->plan;
    if (!plan->varying && !allocate_varying(update))
        return false;
    for (const struct append *append = plan->appends; append; append = append->next)
        mark_varying(update, &plan->slots[append->result]); /* the stride of its rows may differ */
    size_t n_updated = 0;
    while (n_updated < plan->varying->n_ops && !update->has_new)
        if (!update_op(update, &plan->varying->ops[n_updated++]))
            return false;
    return !update->has_new || find_varying(update, n_updated);
}
