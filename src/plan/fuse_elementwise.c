/* Fuses consecutive element-wise steps over the same number of elements into one step, which runs a
 * program of fused_f32.h. Values stay in registers, and those that no other step reads get no
 * memory. The results are the same, bit for bit. Steps after a product become its epilogue, and the
 * bias of an Add becomes the initial value of its sums.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "kernels/indirect_convolution.h"
#include "plan/fused_program.h"

/* ---- groups ---- */

static bool reads(const struct plan *plan, const struct pending_step *pending, uint32_t root)
{
    for (uint32_t i = 0; i < pending->n_inputs; i++)
        if (plan_root(plan, pending->in[i]) == root)
            return true;
    return false;
}

/* Returns whether a step reads a part of a value that a step from `begin` on computes. The group
 * must then end before this step, because a tile may read only what the same tile has written
 * (fused_f32.h). */
static bool reads_part(const struct plan *plan, const struct pending_step *pending, size_t begin)
{
    for (uint32_t i = 0; i < pending->n_inputs; i++) {
        uint32_t parent = plan->slots[plan_root(plan, pending->in[i])].parent;
        for (; parent != NO_ID; parent = plan->slots[plan_root(plan, parent)].parent) {
            uint32_t first_step = plan->slots[plan_root(plan, parent)].first_step;
            if (first_step != NO_ID && first_step >= begin)
                return true;
        }
    }
    return false;
}

/* Returns the end of the group that begins at `begin`: element-wise steps, or a product and the
 * element-wise steps after it. */
static size_t find_end(const struct step_builder *builder, size_t begin)
{
    const struct pending_step *first = &builder->steps[begin];
    bool is_product = first->made.epilogue.n > 0;
    size_t n = is_product ? first->made.epilogue.n : first->made.fusable.n, i = begin + is_product;
    if (n == 0 || n > FUSED_MAX)
        return begin + 1;
    while (i < builder->n && builder->steps[i].made.fusable.code != FUSED_NONE &&
           builder->steps[i].made.fusable.n == n && builder->steps[i].is_main == first->is_main &&
           (is_product || builder->steps[i].made.fusable.repeated[0].count == 0) &&
           !reads_part(builder->plan, &builder->steps[i], begin))
        i++;
    bool is_group =
        i > begin + 1 &&
        (!is_product || reads(builder->plan, &builder->steps[begin + 1], first->out[0]));
    return is_group ? i : begin + 1;
}

/* Clears the uses of a slot within a group. group: the group that computes the slot; 0: none. */
static void reset_uses(struct fused_program *fused, uint32_t slot_id, uint32_t group)
{
    struct slot_uses *uses = &fused->uses[slot_id];
    *uses = (struct slot_uses){.n_uses = uses->n_uses, .group = group, .spill = NO_ID};
}

/* Starts a group of n steps, and counts the uses of slots within it. */
static void count_group_uses(struct fused_program *fused, const struct pending_step *steps,
                             size_t n)
{
    fused->group++;
    for (size_t i = 0; i < n; i++) {
        reset_uses(fused, steps[i].out[0], fused->group);
        for (uint32_t k = 0; k < steps[i].n_inputs; k++) {
            struct slot_uses *uses = &fused->uses[plan_root(fused->plan, steps[i].in[k])];
            uses->n_inside++;
            uses->n_left++;
        }
    }
}

/* ---- the state of a fused step ---- */

/* Lists the slots that the step reads and writes, for memory planning. Adds the slots of the state
 * and the values of the group that other steps read, except `shared`, which shares the memory of
 * the product's output; that output is in the list already. */
static bool list_slots(struct fused_program *fused, const struct fused_state *state,
                       const struct pending_step *steps, size_t n, uint32_t shared,
                       struct pending_step *pending)
{
    struct plan *plan = fused->plan;
    uint32_t n_in = pending->n_inputs, n_out = pending->n_outputs;
    uint32_t *ids = arena_alloc_array(&plan->arena, n_in + n_out + state->n_operands + n,
                                      sizeof *ids, fused->err);
    if (!ids)
        return false;
    if (n_in > 0)
        memcpy(ids, pending->in, n_in * sizeof *ids);
    uint32_t output = n_out > 0 ? plan_root(plan, pending->out[0]) : NO_ID;
    for (size_t i = 0; i < state->n_operands; i++) {
        uint32_t root = plan_root(plan, state->operands[i].slot);
        if (!fused_is_produced(fused, root) && root != output)
            ids[n_in++] = state->operands[i].slot;
    }
    uint32_t *out = ids + n_in;
    if (n_out > 0)
        memcpy(out, pending->out, n_out * sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        uint32_t id = steps[i].out[0];
        if (!fused_is_live_out(fused, id))
            plan->slots[id].kind = SLOT_NONE;
        else if (id != shared)
            out[n_out++] = id;
    }
    pending->in = ids;
    pending->out = out;
    pending->n_inputs = n_in;
    pending->n_outputs = n_out;
    return true;
}

/* Lists the ops of n steps in the step that they are fused into, and in the state of that step if
 * it has one. */
static bool list_members(struct fused_program *fused, const struct pending_step *steps, size_t n,
                         struct pending_step *joined)
{
    struct arena *arena = &fused->plan->arena;
    const struct op **members = arena_alloc_array(arena, n, sizeof *members, fused->err);
    const struct planned_op **planned = arena_alloc_array(arena, n, sizeof *planned, fused->err);
    if (!members || !planned)
        return false;
    for (size_t i = 0; i < n; i++) {
        members[i] = steps[i].op;
        planned[i] = steps[i].source.planned;
    }
    joined->members = members;
    joined->n_members = (uint32_t)n;
    if (joined->source.fused) {
        joined->source.fused->members = planned;
        joined->source.fused->n_members = (uint32_t)n;
    }
    return true;
}

static struct fused_state *add_state(struct fused_program *fused)
{
    struct plan *plan = fused->plan;
    struct fused_state *state = arena_alloc(&plan->arena, sizeof *state, fused->err);
    if (!state)
        return NULL;
    state->next = plan->fused_states;
    plan->fused_states = state;
    return state;
}

/* Fuses a group of n steps into the step *joined. */
static bool fuse_group(struct fused_program *fused, const struct pending_step *steps, size_t n,
                       struct pending_step *joined)
{
    struct plan *plan = fused->plan;
    count_group_uses(fused, steps, n);
    fused_write(fused, steps, n);
    struct fused_state *state = add_state(fused);
    if (fused->has_failed || !state || !fused_copy_program(fused, state) ||
        !fused_allocate_spills(fused, state))
        return false;
    *joined = (struct pending_step){
        .op = steps->op, .state = state, .source.fused = state, .is_main = steps->is_main};
    if (!fused_prepare(plan, state, &joined->made, fused->err))
        return false;
    if (joined->is_main)
        plan->n_fused_ops += (uint32_t)n;
    return list_members(fused, steps, n, joined) &&
           list_slots(fused, state, steps, n, NO_ID, joined);
}

/* ---- products ---- */

/* Returns the slot that `pending` adds as a bias, if it can be the initial value of the sums of the
 * product; otherwise NO_ID. */
static uint32_t find_bias(const struct fused_program *fused, const struct pending_step *product,
                          const struct pending_step *pending)
{
    const struct repetition *bias = &product->made.epilogue.bias;
    uint32_t output = product->out[0];
    if (pending->made.fusable.code != FUSED_ADD || bias->count == 0 ||
        fused->uses[output].n_inside != 1 || fused_is_live_out(fused, output))
        return NO_ID;
    uint32_t other = plan_root(fused->plan, pending->in[0]) == output;
    struct repetition found = fused_repetition(&pending->made.fusable, other);
    return found.inner == bias->inner && found.count == bias->count ? pending->in[other] : NO_ID;
}

/* Writes the epilogue of a product whose output is slot `output`. Halves the number of steps *n
 * until the program is within the limits of epilogue_run. If *n becomes 0, there is no epilogue. */
static bool write_epilogue(struct fused_program *fused, uint32_t output,
                           const struct pending_step *steps, size_t *n)
{
    for (; *n > 0; *n = *n / 2) {
        reset_uses(fused, output, 0);
        count_group_uses(fused, steps, *n);
        fused_write(fused, steps, *n);
        if (fused->has_failed)
            return false;
        if (fused_fits_pieces(fused->n_program, fused->n_spills))
            return true;
    }
    fused->n_program = fused->n_operands = 0;
    return true;
}

/* Lets the last value of the epilogue use the memory of the product's output. Returns the slot of
 * the last value, or NO_ID if the product needs its own memory. */
static uint32_t share_memory(struct fused_program *fused, uint32_t output,
                             const struct pending_step *last)
{
    struct slot *slots = fused->plan->slots;
    if (fused_is_live_out(fused, output) || slots[last->out[0]].tensor.dtype != IRRUN_F32)
        return NO_ID;
    slots[output].root = last->out[0];
    return last->out[0];
}

/* Returns whether the epilogue is a map (epilogue.h): its program reads and writes the memory of
 * the product only. */
static bool is_map(const struct fused_program *fused, uint32_t output)
{
    for (size_t i = 0; i < fused->n_operands; i++) {
        uint32_t slot = fused->operands[i].slot;
        if (slot != NO_ID && plan_root(fused->plan, slot) != plan_root(fused->plan, output))
            return false;
    }
    return fused->n_operands > 0;
}

/* Fuses the *n steps after a product into the product: the first may become its bias, the others
 * its epilogue. Sets *n to the number of steps that are fused. */
static bool fuse_product(struct fused_program *fused, const struct pending_step *product, size_t *n,
                         struct pending_step *joined)
{
    struct plan *plan = fused->plan;
    const struct pending_step *steps = product + 1;
    struct fused_state *state = add_state(fused);
    uint32_t output = product->out[0], shared = NO_ID;
    reset_uses(fused, output, 0);
    count_group_uses(fused, steps, *n);
    uint32_t bias = find_bias(fused, product, steps);
    if (bias != NO_ID)
        output = plan->slots[output].root = steps++->out[0];
    size_t n_left = (size_t)(product + 1 + *n - steps);
    fused->n_program = fused->n_operands = 0;
    if (!state || !write_epilogue(fused, output, steps, &n_left) ||
        !fused_copy_program(fused, state))
        return false;
    if (bias != NO_ID)
        state->operands[state->n_operands++] =
            (struct fused_operand){.instruction = NO_ID,
                                   .slot = bias,
                                   .reader = product[1].source.planned,
                                   .input = bias != product[1].in[0]};
    if (n_left > 0)
        shared = share_memory(fused, output, &steps[n_left - 1]);
    state->epilogue.is_map = is_map(fused, output);
    fused_find_clamp(&state->epilogue);
    *n = (size_t)(steps + n_left - (product + 1));
    *joined = *product;
    joined->source.fused = state;
    if (joined->is_main)
        plan->n_epilogue_ops += (uint32_t)*n;
    return list_members(fused, product, 1 + *n, joined) &&
           list_slots(fused, state, steps, n_left, shared, joined);
}

/* The n steps before steps[n] have been fused into *joined. If *joined is a convolution with its
 * epilogue, and steps[n] is a MaxPool and the only reader of its output, fuses steps[n] into
 * *joined, too. Returns whether it was fused. */
static bool fuse_pooling(struct fused_program *fused, const struct pending_step *steps, size_t n,
                         struct pending_step *joined)
{
    const struct pending_step *pooling = &steps[n];
    struct slot *slots = fused->plan->slots;
    uint32_t output = plan_root(fused->plan, joined->out[0]);
    if (!joined->made.convolution || !pooling->made.pooling || joined->n_outputs != 1 ||
        plan_root(fused->plan, pooling->in[0]) != output || fused->uses[output].n_uses != 1 ||
        slots[output].last_step == NO_ID || joined->is_main != pooling->is_main ||
        (joined->source.fused && joined->source.fused->epilogue.fused &&
         !joined->source.fused->epilogue.is_map) ||
        !indirect_convolution_add_pooling(joined->made.convolution, pooling->made.pooling))
        return false;
    slots[joined->out[0]].root = slots[output].root = pooling->out[0];
    joined->out = pooling->out;
    joined->source.pooling = pooling->source.planned;
    joined->made.rows = NULL;
    return true;
}

/* ---- all steps ---- */

/* Counts the uses of every slot by all steps. */
static void count_uses(struct fused_program *fused, const struct step_builder *builder)
{
    for (size_t i = 0; i < builder->n; i++) {
        const struct pending_step *pending = &builder->steps[i];
        for (uint32_t k = 0; k < pending->n_inputs; k++) {
            uint32_t root = pending->in[k];
            for (; root != NO_ID; root = fused->plan->slots[root].parent) {
                root = plan_root(fused->plan, root);
                fused->uses[root].n_uses++;
            }
        }
    }
}

/* Finds the first and last step of each slot again, since the indices of the steps have changed. */
static void find_lifetimes(struct plan *plan, const struct step_builder *builder)
{
    for (size_t i = 0; i < plan->n_slots; i++) {
        struct slot *slot = &plan->slots[i];
        slot->first_step = NO_ID;
        if (slot->last_step != NO_ID)
            slot->last_step = 0;
    }
    for (size_t i = 0; i < builder->n; i++) {
        const struct pending_step *pending = &builder->steps[i];
        for (uint32_t k = 0; k < pending->n_inputs; k++)
            step_use_slot(plan, pending->in[k], (uint32_t)i);
        for (uint32_t k = 0; k < pending->n_outputs; k++)
            step_use_slot(plan, pending->out[k], (uint32_t)i);
    }
}

static bool has_groups(const struct step_builder *builder)
{
    for (size_t i = 0; i < builder->n; i++)
        if (find_end(builder, i) > i + 1 || builder->steps[i].made.pooling)
            return true;
    return false;
}

static bool fuse_all(struct fused_program *fused, struct step_builder *builder)
{
    size_t n = 0;
    for (size_t i = 0, end; i < builder->n; i = end) {
        end = find_end(builder, i);
        struct pending_step pending = builder->steps[i];
        size_t n_after = end - i - 1;
        if (n_after > 0 && pending.made.epilogue.n > 0) {
            if (!fuse_product(fused, &builder->steps[i], &n_after, &pending))
                return false;
            end = i + 1 + n_after;
        } else if (n_after > 0 && !fuse_group(fused, &builder->steps[i], end - i, &pending)) {
            return false;
        }
        if (end < builder->n && fuse_pooling(fused, &builder->steps[i], end - i, &pending)) {
            end++;
            if (!list_members(fused, &builder->steps[i], end - i, &pending))
                return false;
        }
        builder->steps[n++] = pending;
    }
    builder->n = n;
    return true;
}

bool step_builder_fuse(struct step_builder *builder, struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    if (!has_groups(builder))
        return true;
    struct fused_program fused = {.plan = plan, .err = err};
    fused.uses = new_array(plan->n_slots, sizeof *fused.uses, err);
    bool is_done = fused.uses && (count_uses(&fused, builder),
                                  fuse_all(&fused, builder) && step_builder_chain(&fused, builder));
    if (is_done)
        find_lifetimes(plan, builder);
    free(fused.uses);
    free(fused.program);
    free(fused.operands);
    free(fused.free_spills);
    return is_done;
}
