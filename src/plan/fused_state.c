/* The state of fused steps: a copy of the program and its tiles. Also runs the steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "plan/fused_program.h"

/* ---- run ---- */

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

/* Returns how many elements the program can process before one of its operands repeats. */
static size_t count_contiguous(const struct fused_program *fused)
{
    size_t n = fused->n_tiles > 0 ? 0 : FUSED_MAX;
    for (size_t i = 0; i < fused->n_operands; i++) {
        const struct epilogue_operand *where = &fused->operands[i].where;
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
    state->program = arena_alloc_array(arena, fused->n_program, sizeof *state->program, fused->err);
    state->operands = arena_alloc_array(arena, n + 1, sizeof *state->operands, fused->err);
    if (!where || !state->program || !state->operands)
        return false;
    if (fused->n_program > 0)
        memcpy(state->program, fused->program, fused->n_program * sizeof *state->program);
    for (size_t i = 0; i < n; i++) {
        const struct program_operand *operand = &fused->operands[i];
        where[i] = operand->where;
        if (operand->slot != NO_ID)
            state->operands[state->n_operands++] =
                (struct fused_operand){operand->where.instruction, operand->slot};
    }
    bool is_empty = fused->n_program == 0;
    state->epilogue = (struct epilogue){.fused = is_empty ? NULL : kernels->fused_f32,
                                        .program = state->program,
                                        .operands = where,
                                        .n_program = fused->n_program,
                                        .n_operands = n,
                                        .n_contiguous = count_contiguous(fused)};
    return true;
}

bool fused_fits_pieces(const struct fused_program *fused)
{
    return fused->n_program <= EPILOGUE_MAX_INSTRUCTIONS && fused->n_tiles <= EPILOGUE_MAX_TILES;
}

bool fused_allocate_tiles(struct fused_program *fused, struct fused_state *state)
{
    float(*tiles)[FUSED_TILE] =
        arena_alloc_array(&fused->plan->arena, fused->n_tiles, sizeof *tiles, fused->err);
    for (size_t i = 0; i < fused->n_operands && tiles; i++) {
        const struct program_operand *operand = &fused->operands[i];
        if (operand->slot == NO_ID)
            state->program[operand->where.instruction].at = tiles[operand->where.inner];
    }
    return tiles != NULL;
}

bool fused_prepare(const struct fused_program *fused, const struct fused_state *state,
                   struct prepared *made)
{
    size_t n = state->n;
    struct prepare prepare = {
        .pool = fused->plan->request.pool,
        .arena = &fused->plan->arena,
        .made.flat = {.run = run_fused_step, .kernel.fused = state->epilogue.fused, .n = n},
        .err = fused->err};
    double work = SHARE_ELEMENT_WORK * (double)n * (double)(fused->n_program + 2) / 4;
    bool is_ready = !fused_fits_pieces(fused) ||
                    prepare_sharing(&prepare, run_fused_units, share_units(n), work);
    *made = prepare.made;
    return is_ready;
}
