/* Joins neighbouring element-wise drafts over as many elements into one, whose step runs a program of
 * fused_f32.h: their values stay in registers, and those that nobody else reads get no memory. What they compute
 * stays the same, bit for bit.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "plan/drafts.h"

/* What becomes of a slot that is its own root. */
struct fate {
    uint32_t n_uses;   /* by all drafts */
    uint32_t n_inside; /* by those of the run that makes it */
    uint32_t n_left;   /* of these, still to come */
    uint32_t run;      /* which run that is; 0 for none */
    bool is_kept;      /* read from memory within the run */
    float *tile;       /* that memory, if nobody outside reads it */
};

struct fuser {
    struct drafts *drafts;
    struct plan *plan;
    struct fate *fates;   /* per slot */
    uint32_t run;         /* the one at hand, from 1 */
    bool is_rehearsal;    /* finds out what is to be kept, and writes nothing */
    uint32_t tile, truth; /* the roots that are in the registers; NO_ID */
    struct fused_instruction *program;
    size_t n_program, program_capacity;
    struct fused_operand *operands;
    size_t n_operands, operands_capacity;
    float **free_tiles;
    size_t n_free_tiles, free_tiles_capacity;
    struct irrun_error *err;
    bool has_failed;
};

bool run_fused_step(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct fused_state *state = step->state;
    step->flat.kernel.fused(state->program, step->flat.n);
    return true;
}

/* ---- values ---- */

static bool is_made_here(const struct fuser *fuser, uint32_t root)
{
    return fuser->fates[root].run == fuser->run;
}

/* Somebody after the run, or the caller, reads it. */
static bool is_wanted(const struct fuser *fuser, uint32_t root)
{
    const struct fate *fate = &fuser->fates[root];
    return fate->n_uses > fate->n_inside || fuser->plan->slots[root].last_step == NO_ID;
}

static float *take_tile(struct fuser *fuser)
{
    if (fuser->n_free_tiles > 0)
        return fuser->free_tiles[--fuser->n_free_tiles];
    float *tile = arena_alloc_array(&fuser->plan->arena, FUSED_TILE, sizeof *tile, fuser->err);
    fuser->has_failed |= !tile;
    return tile;
}

/* A value of the run was read for the last time. */
static void drop_tile(struct fuser *fuser, struct fate *fate)
{
    if (!fate->tile)
        return;
    if (grow_array((void **)&fuser->free_tiles, fuser->n_free_tiles, &fuser->free_tiles_capacity,
                   sizeof *fuser->free_tiles, fuser->err))
        fuser->free_tiles[fuser->n_free_tiles++] = fate->tile;
    else
        fuser->has_failed = true;
    fate->tile = NULL;
}

/* ---- instructions ---- */

static struct fused_instruction *emit(struct fuser *fuser, uint32_t code)
{
    static struct fused_instruction nowhere;
    if (fuser->is_rehearsal || fuser->has_failed)
        return &nowhere;
    if (!grow_array((void **)&fuser->program, fuser->n_program, &fuser->program_capacity,
                    sizeof *fuser->program, fuser->err)) {
        fuser->has_failed = true;
        return &nowhere;
    }
    struct fused_instruction *instruction = &fuser->program[fuser->n_program++];
    *instruction = (struct fused_instruction){.code = code};
    return instruction;
}

/* The instruction's operand is the slot, whose elements follow the tile. */
static void point_at(struct fuser *fuser, struct fused_instruction *instruction, uint32_t slot_id,
                     bool is_still)
{
    if (fuser->is_rehearsal || fuser->has_failed)
        return;
    const struct slot *slot = &fuser->plan->slots[slot_id];
    instruction->moves = is_still ? 0 : UINT32_MAX;
    instruction->at = slot->tensor.data;
    if (slot->kind == SLOT_CONSTANT)
        return;
    if (grow_array((void **)&fuser->operands, fuser->n_operands, &fuser->operands_capacity,
                   sizeof *fuser->operands, fuser->err))
        fuser->operands[fuser->n_operands++] =
            (struct fused_operand){(uint32_t)(fuser->n_program - 1), slot_id};
    else
        fuser->has_failed = true;
}

/* … input i of the draft, from memory; in a form of `code`. */
static void emit_with(struct fuser *fuser, uint32_t code, const struct draft *draft, uint32_t i)
{
    bool is_still = draft->fusable.still >> i & 1;
    uint32_t root = plan_root(fuser->plan, draft->in[i]);
    struct fate *fate = &fuser->fates[root];
    struct fused_instruction *instruction =
        emit(fuser, code + (is_still ? FUSED_STILL : FUSED_MOVING));
    if (!is_made_here(fuser, root)) {
        point_at(fuser, instruction, draft->in[i], is_still);
        return;
    }
    fate->is_kept = true;
    if (is_wanted(fuser, root))
        point_at(fuser, instruction, root, false);
    else
        instruction->at = fate->tile;
}

static void emit_store(struct fuser *fuser, uint32_t code, uint32_t root)
{
    struct fate *fate = &fuser->fates[root];
    if (is_wanted(fuser, root)) {
        point_at(fuser, emit(fuser, code), root, false);
    } else if (fate->is_kept && !fuser->is_rehearsal) {
        fate->tile = take_tile(fuser);
        emit(fuser, code)->at = fate->tile;
    }
}

/* ---- ops ---- */

static bool has_register(const struct fuser *fuser, uint32_t held, const struct draft *draft,
                         uint32_t i)
{
    return held != NO_ID && plan_root(fuser->plan, draft->in[i]) == held;
}

static void load(struct fuser *fuser, enum fused_code code, const struct draft *draft, uint32_t i)
{
    emit_with(fuser, code, draft, i);
    *(code == FUSED_LOAD ? &fuser->tile : &fuser->truth) = plan_root(fuser->plan, draft->in[i]);
}

/* Brings input x or the next one into a register; returns the other one. is_reverse: that stands on the
 * left. */
static uint32_t bring_one(struct fuser *fuser, enum fused_code code, const struct draft *draft,
                          uint32_t x, bool *is_reverse)
{
    uint32_t held = code == FUSED_LOAD ? fuser->tile : fuser->truth;
    bool has_first = has_register(fuser, held, draft, x);
    *is_reverse = !has_first && has_register(fuser, held, draft, x + 1);
    if (!has_first && !*is_reverse)
        load(fuser, code, draft, x);
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

static void emit_unary(struct fuser *fuser, const struct draft *draft)
{
    uint32_t code = draft->fusable.code;
    bool is_truth = code == FUSED_NOT;
    if (!has_register(fuser, is_truth ? fuser->truth : fuser->tile, draft, 0))
        load(fuser, is_truth ? FUSED_LOAD_TRUTH : FUSED_LOAD, draft, 0);
    struct fused_instruction *instruction = emit(fuser, code);
    if (code == FUSED_CLAMP)
        instruction->at = (void *)draft->fusable.bounds;
}

static void emit_op(struct fuser *fuser, const struct draft *draft)
{
    uint32_t code = draft->fusable.code, other, root = draft->out[0];
    bool gives_truth = code == FUSED_NOT || (code >= FUSED_AND && code < FUSED_ADD), is_reverse;
    if (code < FUSED_LOAD) {
        emit_unary(fuser, draft);
    } else if (code < FUSED_EQUAL) {
        other = bring_one(fuser, FUSED_LOAD_TRUTH, draft, 0, &is_reverse);
        emit_with(fuser, code, draft, other);
    } else if (code < FUSED_ADD) {
        other = bring_one(fuser, FUSED_LOAD, draft, 0, &is_reverse);
        emit_with(fuser, is_reverse ? reverse_comparison(code) : code, draft, other);
    } else {
        bool is_select = code == FUSED_SELECT;
        if (is_select && !has_register(fuser, fuser->truth, draft, 0))
            load(fuser, FUSED_LOAD_TRUTH, draft, 0);
        other = bring_one(fuser, FUSED_LOAD, draft, is_select, &is_reverse);
        emit_with(fuser, code + (is_reverse ? FUSED_REVERSE_MOVING : 0), draft, other);
    }
    for (uint32_t i = 0; i < draft->n_inputs && !fuser->is_rehearsal; i++) {
        struct fate *fate = &fuser->fates[plan_root(fuser->plan, draft->in[i])];
        if (fate->run == fuser->run && --fate->n_left == 0)
            drop_tile(fuser, fate);
    }
    *(gives_truth ? &fuser->truth : &fuser->tile) = root;
    emit_store(fuser, gives_truth ? FUSED_STORE_TRUTH : FUSED_STORE, root);
}

/* ---- runs ---- */

/* The end of the run that begins here. */
static size_t find_end(const struct drafts *drafts, size_t begin)
{
    const struct draft *first = &drafts->items[begin];
    size_t i = begin;
    if (first->fusable.n == 0 || first->fusable.n > FUSED_MOST)
        return begin + 1;
    while (i < drafts->n && drafts->items[i].fusable.code != FUSED_NONE &&
           drafts->items[i].fusable.n == first->fusable.n &&
           drafts->items[i].is_main == first->is_main)
        i++;
    return i > begin ? i : begin + 1;
}

static void emit_run(struct fuser *fuser, size_t begin, size_t end, bool is_rehearsal)
{
    fuser->is_rehearsal = is_rehearsal;
    fuser->tile = fuser->truth = NO_ID;
    fuser->n_program = fuser->n_operands = fuser->n_free_tiles = 0;
    for (size_t i = begin; i < end; i++)
        emit_op(fuser, &fuser->drafts->items[i]);
    emit(fuser, FUSED_END);
}

static void note_fates(struct fuser *fuser, size_t begin, size_t end)
{
    fuser->run++;
    for (size_t i = begin; i < end; i++) {
        const struct draft *draft = &fuser->drafts->items[i];
        struct fate *made = &fuser->fates[draft->out[0]];
        *made = (struct fate){.n_uses = made->n_uses, .run = fuser->run};
        for (uint32_t k = 0; k < draft->n_inputs; k++) {
            struct fate *fate = &fuser->fates[plan_root(fuser->plan, draft->in[k])];
            fate->n_inside++;
            fate->n_left++;
        }
    }
}

/* Lists what the step reads and writes, for those who hand out memory. */
static bool list_slots(struct fuser *fuser, size_t begin, size_t end, struct draft *fused)
{
    struct arena *arena = &fuser->plan->arena;
    uint32_t *ids =
        arena_alloc_array(arena, fuser->n_operands + (end - begin), sizeof *ids, fuser->err);
    if (!ids)
        return false;
    fused->in = ids;
    for (size_t i = 0; i < fuser->n_operands; i++)
        if (!is_made_here(fuser, plan_root(fuser->plan, fuser->operands[i].slot)))
            ids[fused->n_inputs++] = fuser->operands[i].slot;
    fused->out = ids + fused->n_inputs;
    for (size_t i = begin; i < end; i++) {
        uint32_t id = fuser->drafts->items[i].out[0];
        if (is_wanted(fuser, id))
            fused->out[fused->n_outputs++] = id;
        else
            fuser->plan->slots[id].kind = SLOT_NONE;
    }
    return true;
}

static void *copy_array(struct fuser *fuser, const void *items, size_t n, size_t item_bytes)
{
    void *copy = arena_alloc_array(&fuser->plan->arena, n, item_bytes, fuser->err);
    if (copy && n > 0)
        memcpy(copy, items, n * item_bytes);
    return copy;
}

static bool fuse_run(struct fuser *fuser, size_t begin, size_t end, struct draft *fused)
{
    struct plan *plan = fuser->plan;
    const struct draft *first = &fuser->drafts->items[begin];
    note_fates(fuser, begin, end);
    emit_run(fuser, begin, end, true);
    emit_run(fuser, begin, end, false);
    struct fused_state *state = arena_alloc(&plan->arena, sizeof *state, fuser->err);
    if (fuser->has_failed || !state)
        return false;
    state->n_operands = fuser->n_operands;
    state->program = copy_array(fuser, fuser->program, fuser->n_program, sizeof *fuser->program);
    state->operands =
        copy_array(fuser, fuser->operands, fuser->n_operands, sizeof *fuser->operands);
    *fused = (struct draft){.flat = {.run = run_fused_step,
                                     .kernel.fused = plan->request.model->kernels.fused_f32,
                                     .n = first->fusable.n},
                            .op = first->op,
                            .state = state,
                            .is_main = first->is_main};
    if (fused->is_main)
        plan->n_fused_ops += (uint32_t)(end - begin);
    return state->program && state->operands && list_slots(fuser, begin, end, fused);
}

/* ---- all ---- */

static void count_uses(struct fuser *fuser)
{
    for (size_t i = 0; i < fuser->drafts->n; i++) {
        const struct draft *draft = &fuser->drafts->items[i];
        for (uint32_t k = 0; k < draft->n_inputs; k++)
            fuser->fates[plan_root(fuser->plan, draft->in[k])].n_uses++;
    }
}

/* The drafts have other numbers now. */
static void note_uses_anew(struct plan *plan, const struct drafts *drafts)
{
    for (size_t i = 0; i < plan->n_slots; i++) {
        struct slot *slot = &plan->slots[i];
        slot->first_step = NO_ID;
        if (slot->last_step != NO_ID)
            slot->last_step = 0;
    }
    for (size_t i = 0; i < drafts->n; i++) {
        const struct draft *draft = &drafts->items[i];
        for (uint32_t k = 0; k < draft->n_inputs; k++)
            draft_use_slot(plan, draft->in[k], (uint32_t)i);
        for (uint32_t k = 0; k < draft->n_outputs; k++)
            draft_use_slot(plan, draft->out[k], (uint32_t)i);
    }
}

static bool has_runs(const struct drafts *drafts)
{
    for (size_t i = 0; i < drafts->n; i++)
        if (find_end(drafts, i) > i + 1)
            return true;
    return false;
}

bool drafts_fuse(struct drafts *drafts, struct irrun_error *err)
{
    struct plan *plan = drafts->plan;
    struct fuser fuser = {.drafts = drafts, .plan = plan, .err = err};
    if (!has_runs(drafts))
        return true;
    fuser.fates = calloc(plan->n_slots, sizeof *fuser.fates);
    bool is_done = fuser.fates || fail_memory(err, plan->n_slots * sizeof *fuser.fates);
    if (is_done)
        count_uses(&fuser);
    size_t n = 0;
    for (size_t i = 0, end; i < drafts->n && is_done; i = end) {
        end = find_end(drafts, i);
        struct draft draft = drafts->items[i];
        if (end > i + 1)
            is_done = fuse_run(&fuser, i, end, &draft);
        drafts->items[n++] = draft;
    }
    drafts->n = n;
    if (is_done)
        note_uses_anew(plan, drafts);
    free(fuser.fates);
    free(fuser.program);
    free(fuser.operands);
    free(fuser.free_tiles);
    return is_done;
}
