/* Writes the program that computes a group of consecutive element-wise steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/fused_program.h"

#include <math.h>
#include <string.h>

/* ---- values ---- */

bool fused_is_produced(const struct fused_program *fused, uint32_t root)
{
    return fused->uses[root].group == fused->group;
}

bool fused_is_live_out(const struct fused_program *fused, uint32_t root)
{
    const struct slot_uses *uses = &fused->uses[root];
    return uses->n_uses > uses->n_inside || fused->plan->slots[root].last_step == NO_ID;
}

struct repetition fused_repetition(const struct fusable *fusable, uint32_t i)
{
    if (i < 2 && fusable->repeated[i].count > 0)
        return fusable->repeated[i];
    bool is_scalar = fusable->scalars >> i & 1;
    return (struct repetition){is_scalar ? fusable->n : 1, is_scalar ? 1 : fusable->n};
}

/* Frees the spill of a value after its last use. */
static void release_spill(struct fused_program *fused, struct slot_uses *uses)
{
    if (uses->spill == NO_ID)
        return;
    if (GROW_ARRAY(fused->free_spills, fused->n_free_spills, fused->free_spills_capacity,
                   fused->err))
        fused->free_spills[fused->n_free_spills++] = uses->spill;
    else
        fused->has_failed = true;
    uses->spill = NO_ID;
}

/* ---- instructions ---- */

static struct fused_instruction *emit(struct fused_program *fused, uint32_t code)
{
    if (fused->is_dry_run || fused->has_failed)
        return &fused->discarded;
    if (!GROW_ARRAY(fused->program, fused->n_program, fused->program_capacity, fused->err)) {
        fused->has_failed = true;
        return &fused->discarded;
    }
    struct fused_instruction *instruction = &fused->program[fused->n_program++];
    *instruction = (struct fused_instruction){.code = code};
    return instruction;
}

/* Sets the operand of the last instruction. */
static void add_operand(struct fused_program *fused, const struct program_operand *operand)
{
    if (fused->is_dry_run || fused->has_failed)
        return;
    if (!GROW_ARRAY(fused->operands, fused->n_operands, fused->operands_capacity, fused->err)) {
        fused->has_failed = true;
        return;
    }
    fused->operands[fused->n_operands] = *operand;
    fused->operands[fused->n_operands++].where.instruction = (uint32_t)(fused->n_program - 1);
}

static void point_at_spill(struct fused_program *fused, uint32_t spill)
{
    add_operand(fused, &(struct program_operand){.slot = NO_ID, .where.inner = spill});
}

static void point_at_slot(struct fused_program *fused, struct fused_instruction *instruction,
                          const struct program_operand *operand)
{
    instruction->advance_mask = fused_advance_mask(operand->where.inner);
    struct program_operand with_size = *operand;
    with_size.where.element_bytes =
        (uint32_t)dtype_size(fused->plan->slots[operand->slot].tensor.dtype);
    add_operand(fused, &with_size);
}

/* Sets the operand to all elements of a slot. */
static void point_at_all(struct fused_program *fused, struct fused_instruction *instruction,
                         uint32_t slot_id)
{
    point_at_slot(
        fused, instruction,
        &(struct program_operand){.slot = slot_id, .where = {.inner = 1, .count = fused->n}});
}

/* Emits the form of `code` that reads input i of the step from memory. */
static void emit_from_memory(struct fused_program *fused, uint32_t code,
                             const struct pending_step *pending, uint32_t i)
{
    bool is_scalar = pending->made.fusable.scalars >> i & 1;
    uint32_t root = plan_root(fused->plan, pending->in[i]);
    struct slot_uses *uses = &fused->uses[root];
    struct fused_instruction *instruction =
        emit(fused, code + (is_scalar ? FUSED_SCALAR : FUSED_ARRAY));
    if (!fused_is_produced(fused, root)) {
        struct repetition repetition = fused_repetition(&pending->made.fusable, i);
        point_at_slot(fused, instruction,
                      &(struct program_operand){
                          .slot = pending->in[i],
                          .reader = pending->source.planned,
                          .input = i,
                          .where = {.inner = repetition.inner, .count = repetition.count}});
        return;
    }
    uses->needs_memory = true;
    if (fused_is_live_out(fused, root))
        point_at_all(fused, instruction, root);
    else
        point_at_spill(fused, uses->spill);
}

static void emit_store(struct fused_program *fused, uint32_t code, uint32_t root)
{
    struct slot_uses *uses = &fused->uses[root];
    if (fused_is_live_out(fused, root)) {
        point_at_all(fused, emit(fused, code), root);
    } else if (uses->needs_memory && !fused->is_dry_run) {
        uses->spill = fused->n_free_spills > 0 ? fused->free_spills[--fused->n_free_spills]
                                               : fused->n_spills++;
        emit(fused, code);
        point_at_spill(fused, uses->spill);
    }
}

/* ---- ops ---- */

static bool is_in_register(const struct fused_program *fused, uint32_t held,
                           const struct pending_step *pending, uint32_t i)
{
    return held != NO_ID && plan_root(fused->plan, pending->in[i]) == held;
}

/* Loads input i into a register. Does not record that a repeated value is in the register, because
 * a later op may repeat it differently. */
static void load(struct fused_program *fused, enum fused_code code,
                 const struct pending_step *pending, uint32_t i)
{
    struct repetition loaded = fused_repetition(&pending->made.fusable, i);
    uint32_t root = plan_root(fused->plan, pending->in[i]);
    emit_from_memory(fused, code, pending, i);
    *(code == FUSED_LOAD ? &fused->tile : &fused->mask) = loaded.count == fused->n ? root : NO_ID;
}

/* Loads input x into a register, unless the register holds input x or x + 1. Returns the index of
 * the input that is not in the register. Sets *is_reverse if this input is the left operand. */
static uint32_t load_one(struct fused_program *fused, enum fused_code code,
                         const struct pending_step *pending, uint32_t x, bool *is_reverse)
{
    uint32_t held = code == FUSED_LOAD ? fused->tile : fused->mask;
    bool has_first = is_in_register(fused, held, pending, x);
    *is_reverse = !has_first && is_in_register(fused, held, pending, x + 1);
    if (!has_first && !*is_reverse)
        load(fused, code, pending, x);
    return *is_reverse ? x : x + 1;
}

static uint32_t reverse_comparison(uint32_t code)
{
    return code == FUSED_LESS            ? FUSED_GREATER
           : code == FUSED_LESS_EQUAL    ? FUSED_GREATER_EQUAL
           : code == FUSED_GREATER       ? FUSED_LESS
           : code == FUSED_GREATER_EQUAL ? FUSED_LESS_EQUAL
                                         : code;
}

static void emit_unary(struct fused_program *fused, const struct pending_step *pending)
{
    bool is_boolean = fused_is_logic(pending->made.fusable.code);
    if (!is_in_register(fused, is_boolean ? fused->mask : fused->tile, pending, 0))
        load(fused, is_boolean ? FUSED_LOAD_BOOLEAN : FUSED_LOAD, pending, 0);
    emit(fused, pending->made.fusable.code)->at = (void *)pending->made.fusable.parameters;
}

static void emit_op(struct fused_program *fused, const struct pending_step *pending)
{
    uint32_t code = pending->made.fusable.code, other, root = pending->out[0];
    bool gives_boolean = fused_is_logic(code) || fused_is_comparison(code), is_reverse;
    if (code < FUSED_LOAD) {
        emit_unary(fused, pending);
    } else if (fused_is_logic(code)) {
        other = load_one(fused, FUSED_LOAD_BOOLEAN, pending, 0, &is_reverse);
        emit_from_memory(fused, code, pending, other);
    } else if (fused_is_comparison(code)) {
        other = load_one(fused, FUSED_LOAD, pending, 0, &is_reverse);
        emit_from_memory(fused, is_reverse ? reverse_comparison(code) : code, pending, other);
    } else {
        bool is_select = code == FUSED_SELECT;
        if (is_select && !is_in_register(fused, fused->mask, pending, 0))
            load(fused, FUSED_LOAD_BOOLEAN, pending, 0);
        other = load_one(fused, FUSED_LOAD, pending, is_select, &is_reverse);
        emit_from_memory(fused, code + (is_reverse ? FUSED_REVERSE_ARRAY : 0), pending, other);
    }
    for (uint32_t i = 0; i < pending->n_inputs && !fused->is_dry_run; i++) {
        struct slot_uses *uses = &fused->uses[plan_root(fused->plan, pending->in[i])];
        if (uses->group == fused->group && --uses->n_left == 0)
            release_spill(fused, uses);
    }
    *(gives_boolean ? &fused->mask : &fused->tile) = root;
    emit_store(fused, gives_boolean ? FUSED_STORE_BOOLEAN : FUSED_STORE, root);
}

/* ---- all steps ---- */

static void write_once(struct fused_program *fused, const struct pending_step *steps, size_t n,
                       bool is_dry_run)
{
    fused->is_dry_run = is_dry_run;
    fused->tile = fused->mask = NO_ID;
    fused->n_program = fused->n_operands = fused->n_free_spills = fused->n_spills = 0;
    for (size_t i = 0; i < n; i++)
        emit_op(fused, &steps[i]);
    emit(fused, FUSED_END);
}

void fused_write(struct fused_program *fused, const struct pending_step *steps, size_t n)
{
    fused->n = steps[0].made.fusable.n;
    write_once(fused, steps, n, true);
    write_once(fused, steps, n, false);
}

void fused_find_clamp(struct epilogue *epilogue)
{
    const struct fused_instruction *program = epilogue->program;
    if (!epilogue->is_map || epilogue->n_program != 4 || program[0].code != FUSED_LOAD ||
        program[2].code != FUSED_STORE)
        return;
    const float relu[] = {0, INFINITY}, *bounds = program[1].code == FUSED_RELU    ? relu
                                                  : program[1].code == FUSED_CLAMP ? program[1].at
                                                                                   : NULL;
    epilogue->is_clamp = bounds && bounds[0] <= bounds[1];
    if (epilogue->is_clamp)
        memcpy(epilogue->bounds, bounds, sizeof epilogue->bounds);
}
