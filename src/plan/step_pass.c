/* Second pass of planning: converts inferred ops to steps. Drops unused ops, decides whether f16
 * and bf16 values are stored as f32 or in 16 bits, inserts conversions, and calls prepare.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "plan/evaluate.h"
#include "plan/step_builder.h"

static bool run_convert(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct irrun_tensor *in = step->in[0], *out = step->out[0];
    convert_elements(in->dtype, in->data, out->dtype, out->data,
                     (size_t)shape_n_elements(&in->shape));
    return true;
}

/* ---- finding the ops that are needed ---- */

static void mark_inputs(struct plan *plan, const struct op *op)
{
    for (uint32_t i = 0; i < op->n_inputs; i++)
        plan->slots[op_input(plan->request.graph, op, i)].is_needed = true;
}

static void mark_planned_inputs(struct plan *plan, const struct planned_op *planned)
{
    const struct append *append = planned->append;
    if (append) {
        plan->slots[append->state].is_needed = plan->slots[append->added].is_needed = true;
        if (append->indices != NO_ID)
            plan->slots[append->indices].is_needed = true;
        return;
    }
    for (uint32_t i = 0; i < planned->op->n_inputs; i++)
        plan->slots[plan_operand(plan, planned->op, i)].is_needed = true;
}

static bool is_op_needed(const struct plan *plan, const struct planned_op *planned)
{
    const struct op *op = planned->op;
    if (planned->append || op->def->role == ROLE_RESULT || op->def->role == ROLE_ASSIGN)
        return true;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (plan->slots[op->first_output + k].is_needed)
            return true;
    return false;
}

/* Marks the memory of a slot, and of the slot that it is a part of, as in use until the end. */
static void keep_slot(struct plan *plan, uint32_t slot_id)
{
    while (slot_id != NO_ID) {
        struct slot *root = &plan->slots[plan_root(plan, slot_id)];
        root->last_step = NO_ID;
        slot_id = root->parent;
    }
}

static void mark_needed(struct plan *plan)
{
    const struct graph *graph = plan->request.graph;
    for (uint32_t i = plan->end; i < graph->n_order; i++)
        mark_inputs(plan, &graph->ops[graph->order[i]]);
    for (uint32_t i = plan->n_planned; i-- > 0;)
        if (is_op_needed(plan, &plan->planned[i]))
            mark_planned_inputs(plan, &plan->planned[i]);
    for (uint32_t i = plan->end; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            keep_slot(plan, op_input(graph, op, k));
    }
}

/* ---- steps ---- */

void step_use_slot(struct plan *plan, uint32_t slot_id, uint32_t step)
{
    while (slot_id != NO_ID) {
        struct slot *root = &plan->slots[plan_root(plan, slot_id)];
        if (root->first_step == NO_ID)
            root->first_step = step;
        if (root->last_step != NO_ID && root->last_step < step)
            root->last_step = step;
        slot_id = root->parent;
    }
}

bool step_add(struct step_builder *builder, const struct pending_step *pending,
              struct irrun_error *err)
{
    if (!GROW_ARRAY(builder->steps, builder->n, builder->capacity, err))
        return false;
    for (uint32_t i = 0; i < pending->n_inputs; i++)
        step_use_slot(builder->plan, pending->in[i], (uint32_t)builder->n);
    for (uint32_t i = 0; i < pending->n_outputs; i++)
        step_use_slot(builder->plan, pending->out[i], (uint32_t)builder->n);
    builder->steps[builder->n++] = *pending;
    return true;
}

/* Adds a slot in the block of the plan for the elements of slot `original` in type `dtype`. Returns
 * its id, or NO_ID on failure. */
static uint32_t add_slot(struct plan *plan, uint32_t original, enum irrun_dtype dtype,
                         struct irrun_error *err)
{
    if (!GROW_ARRAY(plan->slots, plan->n_slots, plan->slots_capacity, err))
        return NO_ID;
    uint32_t id = (uint32_t)plan->n_slots++;
    plan->slots[id] = (struct slot){.tensor = {dtype, plan->slots[original].tensor.shape, NULL},
                                    .declared = plan->slots[original].declared,
                                    .kind = SLOT_BLOCK,
                                    .root = id,
                                    .parent = NO_ID,
                                    .converted = NO_ID,
                                    .first_step = NO_ID,
                                    .gets_room = plan->slots[original].gets_room,
                                    .original = original};
    return id;
}

/* Adds a step that copies a slot and converts it to type `dtype`. Returns the slot of the copy, or
 * NO_ID on failure. */
static uint32_t add_copy(struct step_builder *builder, const struct op *op, uint32_t slot_id,
                         enum irrun_dtype dtype, struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    uint32_t *ids = arena_alloc_array(&plan->arena, 2, sizeof *ids, err);
    uint32_t copy = add_slot(plan, slot_id, dtype, err);
    if (!ids || copy == NO_ID)
        return NO_ID;
    ids[0] = slot_id;
    ids[1] = copy;
    struct pending_step pending = {.made.flat.run = run_convert,
                                   .op = op,
                                   .in = ids,
                                   .out = ids + 1,
                                   .n_inputs = 1,
                                   .n_outputs = 1,
                                   .is_main = builder->is_main};
    return step_add(builder, &pending, err) ? copy : NO_ID;
}

/* Adds a slot for the f32 copy of a constant. The model owns the copy, which is made once for all
 * plans. */
static uint32_t add_widened_constant(struct plan *plan, uint32_t slot_id, struct irrun_error *err)
{
    uint32_t converted = add_slot(plan, slot_id, IRRUN_F32, err);
    if (converted == NO_ID)
        return NO_ID;
    struct irrun_tensor *tensor = &plan->slots[converted].tensor;
    plan->slots[converted].kind = SLOT_CONSTANT;
    const struct graph *graph = plan->request.graph;
    bool is_shared = slot_id < graph->n_values && graph->analysis->constants[slot_id];
    tensor->data = is_shared ? (void *)constant_get_f32(plan->request.model, graph, slot_id, err)
                             : elements_as_f32(&plan->slots[slot_id].tensor, &plan->arena, err);
    return tensor->data ? converted : NO_ID;
}

static bool is_prepacked(uint32_t prepacked, uint32_t i)
{
    return i < 32 && (prepacked >> i & 1) != 0;
}

bool step_demand_constants(struct plan *plan, const uint32_t *in, uint32_t n, uint32_t prepacked,
                           struct irrun_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        struct slot *slot = &plan->slots[in[i]];
        if (is_prepacked(prepacked, i) || slot->kind != SLOT_CONSTANT || slot->tensor.data ||
            in[i] >= plan->request.graph->n_values)
            continue;
        const struct irrun_tensor *data =
            constant_get(plan->request.model, plan->request.graph, in[i], err);
        if (!data)
            return false;
        slot->tensor.data = data->data;
    }
    return true;
}

uint32_t step_slot_as(struct step_builder *builder, const struct op *op, uint32_t slot_id,
                      enum irrun_dtype dtype, struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    struct slot *slot = &plan->slots[slot_id];
    if (slot->tensor.dtype == dtype)
        return slot_id;
    if (slot->converted == NO_ID) {
        bool is_constant = slot->kind == SLOT_CONSTANT && dtype == IRRUN_F32;
        if (!is_constant && !step_demand_constants(plan, &slot_id, 1, 0, err))
            return NO_ID;
        uint32_t converted = is_constant ? add_widened_constant(plan, slot_id, err)
                                         : add_copy(builder, op, slot_id, dtype, err);
        if (converted != NO_ID)
            plan->slots[slot_id].converted = converted;
        return converted;
    }
    uint32_t converted = slot->converted;
    const struct slot *made = &plan->slots[converted]; /* a constant has no step */
    if (builder->is_main && made->kind != SLOT_CONSTANT && made->first_step != NO_ID)
        builder->steps[made->first_step].is_main = true;
    return converted;
}

/* ---- lowering ops ---- */

/* Replaces constant indices, which prepare has read, with slots without data. In this case *ids
 * becomes a copy of the list. */
static bool drop_index_data(struct plan *plan, const struct op *op, uint32_t **ids,
                            struct irrun_error *err)
{
    uint32_t *prepared = *ids;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const struct slot *slot = &plan->slots[prepared[i]];
        if (slot->kind != SLOT_CONSTANT || !op_input_is_index(op->def, i))
            continue;
        if (*ids == prepared)
            *ids = arena_copy(&plan->arena, prepared, op->n_inputs, sizeof **ids, err);
        uint32_t id = *ids ? add_slot(plan, prepared[i], slot->tensor.dtype, err) : NO_ID;
        if (id == NO_ID)
            return false;
        plan->slots[id].kind = SLOT_CONSTANT;
        (*ids)[i] = id;
    }
    return true;
}

static bool lower_ordinary(struct step_builder *builder, struct planned_op *planned,
                           struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    const struct op *op = planned->op;
    uint32_t *ids =
        arena_alloc_array(&plan->arena, (size_t)op->n_inputs + op->n_outputs, sizeof *ids, err);
    if (!ids)
        return false;
    bool widens = plan_widens(plan, op);
    for (uint32_t i = 0; i < op->n_inputs; i++)
        ids[i] = plan_operand(plan, op, i);
    planned->original_inputs = plan_original_inputs(plan, op);
    if (!plan_prepacked_inputs(plan, op, planned->state, ids, &planned->prepacked, err))
        return false;
    uint32_t prepacked = planned->prepacked;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (planned->is_view)
            break;
        const struct slot *slot = &plan->slots[ids[i]];
        if (widens && dtype_is_half(slot->tensor.dtype) && !is_prepacked(prepacked, i))
            ids[i] = step_slot_as(builder, op, ids[i], IRRUN_F32, err);
        if (ids[i] == NO_ID)
            return false;
    }
    uint32_t *out = ids + op->n_inputs;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        out[k] = op->first_output + k;
    if (planned->is_view)
        return true;
    struct prepared *made = &planned->made;
    if (!step_demand_constants(plan, ids, op->n_inputs, prepacked, err) ||
        !plan_prepare_op(plan, op, planned->state, ids, out, prepacked, made, err))
        return false;
    planned->in = ids;
    planned->out = out;
    if (builder->scratch_bytes < made->scratch_bytes)
        builder->scratch_bytes = made->scratch_bytes;
    /* The first op of a continuation is inferred in each iteration. */
    bool is_head = plan->outer && planned == plan->planned;
    if (is_head) {
        plan->head_prepacked = prepacked;
        made->fusable.code = FUSED_NONE;
        made->epilogue.n = 0;
        made->convolution = NULL;
        made->pooling = NULL;
        made->rows = NULL;
    } else if (!drop_index_data(plan, op, &ids, err)) {
        return false;
    }
    struct pending_step pending = {.made = *made,
                                   .op = op,
                                   .state = planned->state,
                                   .source.planned = planned,
                                   .in = ids,
                                   .out = out,
                                   .n_inputs = op->n_inputs,
                                   .n_outputs = plan_count_outputs(plan, op),
                                   .is_main = builder->is_main};
    return step_add(builder, &pending, err);
}

static bool lower_result(struct step_builder *builder, const struct op *op, struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    uint32_t id = op_input(plan->request.graph, op, 0);
    enum irrun_dtype wanted = stored_dtype(plan->slots[id].declared, plan->request.is_body);
    id = step_slot_as(builder, op, id, wanted, err);
    if (id == NO_ID || !step_demand_constants(plan, &id, 1, 0, err))
        return false;
    enum slot_kind kind = plan->slots[plan_root(plan, id)].kind;
    if (kind == SLOT_VARIABLE || kind == SLOT_OUTER) {
        id = add_copy(builder, op, id, wanted, err);
        if (id == NO_ID)
            return false;
    }
    keep_slot(plan, id);
    plan->results[plan_index(plan, op)] = id;
    return true;
}

/* Returns whether a step that appends replaces the Assign. */
static bool is_done_by_append(const struct plan *plan, const struct op *op)
{
    if (op->def->role != ROLE_ASSIGN)
        return false;
    const struct append *append = plan_input(plan, op, 0)->append;
    return append && append->variable == plan_index(plan, op);
}

static bool lower_ops(struct step_builder *builder, struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    const struct graph *graph = plan->request.graph;
    for (uint32_t i = 0; i < plan->n_planned; i++) {
        struct planned_op *planned = &plan->planned[i];
        const struct op *op = planned->op;
        enum op_role role = op->def->role;
        if (!is_op_needed(plan, planned) || is_done_by_append(plan, op))
            continue;
        builder->is_main = graph->analysis->is_main[op - graph->ops];
        bool is_done = planned->append         ? step_lower_append(builder, planned, err)
                       : role == ROLE_RESULT   ? lower_result(builder, op, err)
                       : role == ROLE_ORDINARY ? lower_ordinary(builder, planned, err)
                                               : step_lower_variable(builder, planned, err);
        if (!is_done)
            return false;
    }
    return true;
}

bool plan_make_steps(struct plan *plan, struct irrun_error *err)
{
    struct step_builder builder = {.plan = plan};
    const struct model *model = plan->request.model;
    bool keeps_steps = model->no_fusion || model->stops_at_nan;
    if (!keeps_steps && !plan_find_appends(plan, err))
        return false;
    mark_needed(plan);
    bool is_done = lower_ops(&builder, err) && (keeps_steps || step_builder_fuse(&builder, err)) &&
                   step_builder_emit(&builder, err) &&
                   plan_place_slots(plan, builder.scratch_bytes, err);
    free(builder.steps);
    return is_done;
}
