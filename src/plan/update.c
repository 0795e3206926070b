/* Updates a plan for different shapes. Its steps stay the same. Only ops whose inputs vary are
 * inferred and prepared again, in the same order as when a plan is made. Everything that one update
 * changes is computed again by all later updates, so that no pointer refers to memory of an earlier
 * update. An update fails if the plan would have different steps, or if a value does not fit in its
 * memory. The caller then makes a new plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/indirect_convolution.h"
#include "plan/update_internal.h"

/* ---- conversions and originals ---- */

/* Returns whether the memory of a slot is large enough. */
static bool has_room(const struct plan *plan, uint32_t id)
{
    size_t offset;
    const struct slot *owner = &plan->slots[plan_owner(plan, id, &offset)];
    return owner->kind != SLOT_BLOCK || tensor_n_bytes(&owner->tensor) <= owner->room_bytes;
}

static bool update_conversions(struct plan *plan)
{
    for (size_t i = 0; i < plan->varying->n_conversions; i++) {
        struct slot *slot = &plan->slots[plan->varying->conversions[i]];
        slot->tensor.shape = plan->slots[slot->original].tensor.shape;
        if (slot->kind == SLOT_CONSTANT && slot->tensor.data) /* its data would have to change */
            return false;
    }
    return true;
}

/* Updates the sizes of appends, and checks that ops still repeat and read the same originals. */
static bool update_originals(struct plan *plan)
{
    for (struct append *append = plan->appends; append; append = append->next)
        if (!plan_size_append(plan, append))
            return false;
    for (size_t i = 0; i < plan->varying->n_ops; i++) {
        const struct planned_op *planned = plan->varying->ops[i].planned;
        if (!planned || planned->op->n_outputs == 0)
            continue;
        const struct op *op = planned->op;
        const struct slot *out = &plan->slots[op->first_output];
        uint32_t original = out->original;
        bool is_repeated = out->runs.count > 0 && original != op->first_output;
        if ((is_repeated &&
             (!plan_propagate_original(plan, planned) || out->original != original)) ||
            (planned->in && planned->original_inputs != plan_original_inputs(plan, op)))
            return false;
    }
    return true;
}

/* ---- steps ---- */

/* Returns whether a member of a fused group keeps its part of the program. */
static bool has_same_form(const struct fusable *a, const struct fusable *b)
{
    return a->code == b->code && a->scalars == b->scalars &&
           (a->repeated[0].count > 0) == (b->repeated[0].count > 0) &&
           (a->repeated[1].count > 0) == (b->repeated[1].count > 0);
}

static bool prepare_ordinary(struct update *update, struct planned_op *planned)
{
    struct plan *plan = update->plan;
    struct irrun_error *err = &update->err;
    struct prepared made;
    uint32_t prepacked;
    if (!plan_prepacked_inputs(plan, planned->op, planned->state, planned->in, &prepacked, err) ||
        prepacked != planned->prepacked ||
        !plan_prepare_op(plan, planned->op, planned->state, planned->in, planned->out, prepacked,
                         &made, err) ||
        made.scratch_bytes > plan->scratch_bytes ||
        !has_same_form(&made.fusable, &planned->made.fusable))
        return false;
    planned->made = made;
    return true;
}

static bool prepare_again(struct update *update)
{
    struct plan *plan = update->plan;
    for (size_t i = 0; i < plan->varying->n_ops; i++) {
        struct planned_op *planned = plan->varying->ops[i].planned;
        if (!planned || !planned->made.flat.run) /* the op has no step */
            continue;
        if (!(planned->in ? prepare_ordinary(update, planned) : plan_size_use(plan, planned)))
            return false;
    }
    return true;
}

/* Returns whether output 0 can stay in the memory of an input, which must have the same shape. */
static bool stays_in_place(const struct plan *plan, const struct step *step)
{
    uint32_t out = plan_root_of(plan, step->out[0]);
    for (uint32_t i = 0; i < step->n_inputs; i++)
        if (plan_root_of(plan, step->in[i]) == out &&
            !shape_equals(&step->in[i]->shape, &step->out[0]->shape))
            return false;
    return true;
}

/* Updates the offsets of inputs that are stored in the output of a Concat. An input that occurs
 * more than once is stored at its first position. */
static bool update_joined(struct update *update, const struct step *step)
{
    struct plan *plan = update->plan;
    uint32_t out = plan_root_of(plan, step->out[0]);
    size_t offset = 0;
    for (uint32_t i = 0; i < step->n_inputs; i++) {
        uint32_t in = plan_root_of(plan, step->in[i]), first = 0;
        while (plan_root_of(plan, step->in[first]) != in)
            first++;
        if (plan->slots[in].parent == out && first == i) {
            if (!plan_concat_is_contiguous(step))
                return false;
            update_offset(update, &plan->slots[in], offset);
        }
        offset += tensor_n_bytes(step->in[i]);
    }
    return true;
}

/* Returns whether a convolution can still compute the MaxPool that is fused into it. */
static bool keeps_pooling(const struct prepared *convolution, const struct prepared *pooling)
{
    return convolution->convolution && pooling->pooling &&
           indirect_convolution_add_pooling(convolution->convolution, pooling->pooling);
}

static bool update_step(struct update *update, uint32_t i)
{
    struct plan *plan = update->plan;
    struct step *step = &plan->steps[i];
    const struct step_source *source = &plan->sources[i];
    const struct planned_op *planned = source->planned;
    struct prepared made = planned ? planned->made : (struct prepared){.flat = step->flat};
    bool is_ordinary = !source->fused && planned && planned->in && step->n_outputs > 0;
    for (uint32_t k = 0; k < step->n_outputs; k++)
        if (!has_room(plan, (uint32_t)(slot_of(step->out[k]) - plan->slots)))
            return false;
    if (source->is_chain || (source->pooling && !keeps_pooling(&made, &source->pooling->made)) ||
        (is_ordinary && !stays_in_place(plan, step)) ||
        (is_ordinary && op_is_type(step->op, "Concat") && !update_joined(update, step)) ||
        (source->fused && !plan_update_fused(plan, source->fused, &made, &update->err)) ||
        (source->cost && !plan_count_work(plan, step, source->cost, &update->err)))
        return false;
    step->flat = made.flat;
    plan_bind_constants(plan, step, source->fused);
    if (source->main) {
        source->main->flat = made.flat;
        plan_bind_constants(plan, source->main, NULL);
    }
    return true;
}

static bool update_steps(struct update *update)
{
    const struct varying *varying = update->plan->varying;
    for (size_t i = 0; i < varying->n_steps; i++)
        if (!update_step(update, varying->steps[i]))
            return false;
    return true;
}

bool plan_update(struct plan *plan, const struct plan_request *request)
{
    struct update update = {.plan = plan};
    if (plan->outer || !plan_is_complete(plan))
        return false;
    arena_reset(&plan->varying_arena);
    plan->op_arena = &plan->varying_arena;
    return plan_copy_request(plan, request, &update.err) && update_infer(&update) &&
           update_conversions(plan) && update_originals(plan) && prepare_again(&update) &&
           update_steps(&update) && (!update.is_moved || plan_bind(plan, &update.err));
}
