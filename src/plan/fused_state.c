/* Makes the state of fused steps (a copy of the program, and its spills; see kernels/fused_f32.h),
 * and runs the steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/fused_program.h"

/* ---- running ---- */

static bool run_fused_step(const struct step *step, struct irrun_error *err)
{
    (void)err;
    const struct fused_state *state = step->state;
    step->flat.kernel.fused(state->program, step->flat.n);
    return true;
}

static void run_fused_units(const struct step *step, size_t begin, size_t end)
{
    const struct fused_state *state = step->state;
    struct share_range range = share_range(state->n, begin, end);
    epilogue_run(&state->epilogue, range.first, range.n);
}

bool is_fused_step(const struct step *step)
{
    return step->flat.run == run_fused_step ||
           (step->flat.run == sharing_run && step->flat.kernel.sharing->run == run_fused_units);
}

/* ---- state ---- */

/* Returns how many elements, from the first on, the program can process at once. The limit is where
 * an operand starts again, or, if it repeats each element, where its second element begins. Returns
 * 0 if there are spills, because a spill holds one tile. */
static size_t count_contiguous(const struct epilogue *epilogue, uint32_t n_spills)
{
    size_t n = n_spills > 0 ? 0 : FUSED_MAX;
    for (size_t i = 0; i < epilogue->n_operands; i++) {
        const struct epilogue_operand *where = &epilogue->operands[i];
        size_t n_max = where->inner == 1 ? where->count : where->inner;
        n = n < n_max ? n : n_max;
    }
    return n;
}

bool fused_copy_program(struct fused_program *fused, struct fused_state *state)
{
    struct arena *arena = &fused->plan->arena;
    const struct kernels *kernels = &fused->plan->request.model->kernels;
    size_t n = fused->n_operands;
    struct epilogue_operand *where = arena_alloc_array(arena, n, sizeof *where, fused->err);
    state->program =
        arena_copy(arena, fused->program, fused->n_program, sizeof *state->program, fused->err);
    state->operands = arena_alloc_array(arena, n + 1, sizeof *state->operands, fused->err);
    if (!where || !state->program || !state->operands)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct program_operand *operand = &fused->operands[i];
        where[i] = operand->where;
        if (operand->slot != NO_ID)
            state->operands[state->n_operands++] =
                (struct fused_operand){.instruction = operand->where.instruction,
                                       .slot = operand->slot,
                                       .reader = operand->reader,
                                       .input = operand->input,
                                       .where = &where[i]};
    }
    bool is_empty = fused->n_program == 0;
    state->n = fused->n;
    state->n_spills = fused->n_spills;
    state->epilogue = (struct epilogue){.fused = is_empty ? NULL : kernels->fused_f32,
                                        .program = state->program,
                                        .operands = where,
                                        .n_program = fused->n_program,
                                        .n_operands = n};
    state->epilogue.n_contiguous = count_contiguous(&state->epilogue, state->n_spills);
    return true;
}

bool fused_fits_pieces(size_t n_program, uint32_t n_spills)
{
    return n_program <= EPILOGUE_MAX_INSTRUCTIONS && n_spills <= EPILOGUE_MAX_SPILLS;
}

bool fused_allocate_spills(struct fused_program *fused, struct fused_state *state)
{
    float(*spills)[FUSED_TILE] =
        arena_alloc_array(&fused->plan->arena, fused->n_spills, sizeof *spills, fused->err);
    for (size_t i = 0; i < fused->n_operands && spills; i++) {
        const struct program_operand *operand = &fused->operands[i];
        if (operand->slot == NO_ID)
            state->program[operand->where.instruction].at = spills[operand->where.inner];
    }
    return spills != NULL;
}

bool fused_prepare(struct plan *plan, const struct fused_state *state, struct prepared *made,
                   struct irrun_error *err)
{
    size_t n = state->n, n_program = state->epilogue.n_program;
    struct prepare prepare = {
        .pool = plan->request.pool,
        .arena = plan->op_arena,
        .made.flat = {.run = run_fused_step, .kernel.fused = state->epilogue.fused, .n = n},
        .err = err};
    double work = SHARE_ELEMENT_WORK * (double)n * (double)(n_program + 2) / 4;
    bool is_ready = !fused_fits_pieces(n_program, state->n_spills) ||
                    prepare_sharing(&prepare, run_fused_units, share_units(n), work);
    *made = prepare.made;
    return is_ready;
}

/* ---- updates for other shapes ---- */

/* Sets how an operand repeats along n elements. Returns false if the program must be written again,
 * because the operand starts or stops being repeated. */
static bool update_operand(struct fused_state *state, const struct fused_operand *operand, size_t n,
                           const struct prepared *product)
{
    struct repetition now = {1, n};
    if (operand->reader)
        now = fused_repetition(&operand->reader->made.fusable, operand->input);
    struct epilogue_operand *where = operand->where;
    if (!where)
        return now.inner == product->epilogue.bias.inner &&
               now.count == product->epilogue.bias.count;
    if ((now.count == n) != (where->count == state->n))
        return false;
    state->program[operand->instruction].advance_mask = fused_advance_mask(now.inner);
    where->inner = now.inner;
    where->count = now.count;
    return true;
}

bool plan_update_fused(struct plan *plan, struct fused_state *state, struct prepared *made,
                       struct irrun_error *err)
{
    bool is_product = made->epilogue.n > 0;
    size_t n = is_product ? made->epilogue.n : state->members[0]->made.fusable.n;
    for (uint32_t i = is_product; i < state->n_members; i++)
        if (state->members[i]->made.fusable.n != n && !state->members[i]->made.pooling)
            return false;
    for (size_t i = 0; i < state->n_operands; i++)
        if (!update_operand(state, &state->operands[i], n, made))
            return false;
    state->n = n;
    state->epilogue.n_contiguous = count_contiguous(&state->epilogue, state->n_spills);
    return n > 0 && n <= FUSED_MAX && (is_product || fused_prepare(plan, state, made, err));
}
