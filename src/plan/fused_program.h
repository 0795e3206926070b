/* Writes the program of consecutive element-wise steps that are fused (a group): chooses which
 * values stay in registers, which are written to spills (fused_f32.h), and which to their slots.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_FUSED_PROGRAM_H
#define IRRUN_PLAN_FUSED_PROGRAM_H

#include "plan/step_builder.h"

/* The uses of a root slot. */
struct slot_uses {
    uint32_t n_uses;   /* uses by all steps */
    uint32_t n_inside; /* uses by steps of the group that computes the slot */
    uint32_t n_left;   /* of n_inside, the uses that are not emitted yet */
    uint32_t group;    /* number of the group that computes the slot; 0: none */
    bool needs_memory; /* the group reads the value from memory */
    uint32_t spill;    /* index of its spill; NO_ID: none, or freed */
};

struct program_operand {
    uint32_t slot;                   /* NO_ID: a spill */
    const struct planned_op *reader; /* NULL: the operand is all elements of the slot */
    uint32_t input;                  /* index of the input of the reader */
    struct epilogue_operand where;
};

struct fused_program {
    struct plan *plan;
    struct slot_uses *uses; /* for each slot */
    uint32_t group;         /* number of the current group, from 1 */
    size_t n;               /* number of elements that each step of the group computes */
    bool is_dry_run;        /* finds the values to spill, but writes no program */
    uint32_t tile, mask;    /* roots of the values in the registers; NO_ID: none */
    struct fused_instruction discarded; /* a dry run writes its instructions here */
    struct fused_instruction *program;
    size_t n_program, program_capacity;
    struct program_operand *operands;
    size_t n_operands, operands_capacity;
    uint32_t *free_spills;
    size_t n_free_spills, free_spills_capacity;
    uint32_t n_spills; /* spills of the group */
    struct irrun_error *err;
    bool has_failed;
};

/* Returns whether the group computes the value. */
bool fused_is_produced(const struct fused_program *fused, uint32_t root);
/* Returns whether a step after the group, or the caller, reads the value. */
bool fused_is_live_out(const struct fused_program *fused, uint32_t root);

/* Returns the advance_mask for an operand that repeats each element `inner` times: all ones if it
 * advances with every element. */
static inline uint32_t fused_advance_mask(size_t inner)
{
    return inner == 1 ? UINT32_MAX : 0;
}

/* Returns how input i of a step repeats along its n elements. */
struct repetition fused_repetition(const struct fusable *fusable, uint32_t i);

/* Joins consecutive convolutions into chains (row_chains.c). The uses must be counted. */
bool step_builder_chain(struct fused_program *fused, struct step_builder *builder);

/* Writes the program of n steps. Their uses must be counted. */
void fused_write(struct fused_program *fused, const struct pending_step *steps, size_t n);

/* ---- the state of a fused step; defined in fused_state.c ---- */

/* Copies the program into the state. */
bool fused_copy_program(struct fused_program *fused, struct fused_state *state);

/* Returns whether epilogue_run can run the program on parts of the result. */
bool fused_fits_pieces(size_t n_program, uint32_t n_spills);

/* Allocates the spills of a separate step, which a single thread runs. */
bool fused_allocate_spills(struct fused_program *fused, struct fused_state *state);

/* Chooses how to run a separate step. Threads share it if its program can run on parts. */
bool fused_prepare(struct plan *plan, const struct fused_state *state, struct prepared *made,
                   struct irrun_error *err);

/* Sets is_clamp and the bounds if the program of a map is a ReLU or a Clamp. */
void fused_find_clamp(struct epilogue *epilogue);

#endif
