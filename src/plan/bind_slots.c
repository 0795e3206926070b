/* Sets the addresses of the values of a plan, and of the operands of its steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_internal.h"

static void **operand_address(struct fused_state *state, const struct fused_operand *operand)
{
    return operand->instruction == NO_ID ? &state->epilogue.bias
                                         : &state->program[operand->instruction].at;
}

void plan_bind_constants(struct plan *plan, struct step *step, struct fused_state *fused)
{
    size_t n = (size_t)step->n_inputs + step->n_outputs;
    for (size_t i = 0; i < n && n <= FLAT_MAX_OPERANDS; i++)
        if (slot_of(step->in[i])->kind == SLOT_CONSTANT)
            step->data[i] = step->in[i]->data;
    for (size_t i = 0; fused && i < fused->n_operands; i++) {
        const struct slot *slot = &plan->slots[fused->operands[i].slot];
        if (slot->kind == SLOT_CONSTANT)
            *operand_address(fused, &fused->operands[i]) = slot->tensor.data;
    }
}

/* Sets the address of an operand, and lists the operand if the address can change. */
static bool bind_operand(struct plan *plan, void **data, const struct irrun_tensor *tensor,
                         struct irrun_error *err)
{
    enum slot_kind kind = slot_of(tensor)->kind;
    *data = tensor->data;
    if (kind == SLOT_BLOCK || kind == SLOT_CONSTANT)
        return true;
    if (!GROW_ARRAY(plan->moving_operands, plan->n_moving_operands, plan->moving_operands_capacity,
                    err))
        return false;
    plan->moving_operands[plan->n_moving_operands++] = (struct moving_operand){data, tensor};
    return true;
}

static bool bind_programs(struct plan *plan, struct irrun_error *err)
{
    for (struct fused_state *state = plan->fused_states; state; state = state->next)
        for (size_t i = 0; i < state->n_operands; i++) {
            const struct fused_operand *operand = &state->operands[i];
            if (!bind_operand(plan, operand_address(state, operand),
                              &plan->slots[operand->slot].tensor, err))
                return false;
        }
    return true;
}

/* Sets the addresses of the operands of steps. */
static bool bind_operands(struct plan *plan, struct step *steps, uint32_t n_steps,
                          struct irrun_error *err)
{
    for (struct step *step = steps; step < steps + n_steps; step++) {
        step->scratch = plan->block;
        size_t n = (size_t)step->n_inputs + step->n_outputs;
        if (n > FLAT_MAX_OPERANDS)
            continue;
        for (size_t i = 0; i < n; i++) /* step->out follows step->in */
            if (!bind_operand(plan, &step->data[i], step->in[i], err))
                return false;
    }
    return true;
}

bool plan_bind(struct plan *plan, struct irrun_error *err)
{
    if (!plan->moving_slots)
        plan->moving_slots =
            arena_alloc_array(&plan->arena, plan->n_slots, sizeof *plan->moving_slots, err);
    if (!plan->moving_slots)
        return false;
    plan->n_moving_slots = 0;
    plan->n_moving_operands = 0;
    for (uint32_t i = 0; i < plan->n_slots; i++) {
        size_t offset;
        uint32_t owner_id = plan_owner(plan, i, &offset);
        struct slot *slot = &plan->slots[i];
        const struct slot *owner = &plan->slots[owner_id];
        slot->kind = owner->kind;
        slot->index = owner->index;
        if (owner->kind == SLOT_BLOCK) {
            slot->tensor.data = plan->block + owner->offset + offset;
        } else if (owner->kind == SLOT_CONSTANT && i != owner_id) {
            slot->tensor.data = owner->tensor.data;
        } else if (owner->kind != SLOT_NONE && owner->kind != SLOT_CONSTANT) {
            slot->offset = offset;
            plan->moving_slots[plan->n_moving_slots++] = i;
        }
    }
    return bind_programs(plan, err) && bind_operands(plan, plan->steps, plan->n_steps, err) &&
           (plan->main_steps == plan->steps ||
            bind_operands(plan, plan->main_steps, plan->n_main_steps, err));
}
