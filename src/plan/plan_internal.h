/* What the files that make a plan share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PLAN_INTERNAL_H
#define IRRUN_PLAN_PLAN_INTERNAL_H

#include "plan/plan.h"

/* An op of the plan between inference and the making of steps. */
struct planned_op {
    const struct op *op;
    void *state;
    bool is_view;
};

/* Whether the 16-bit operands of an op are taken, and given, in f32; its inputs have their
 * slots. */
bool plan_widens(const struct plan *plan, const struct op *op);

/* Infers and folds the ops from plan->begin on; sets plan->end. `head` is the state and the outputs
 * of the op at begin, if it was inferred already. */
struct head {
    void *state;
    struct irrun_tensor *out;
};
bool plan_infer(struct plan *plan, const struct head *head, struct irrun_error *err);

/* Infers one op. *views: where each output begins in input 0, in elements, if they are parts of it;
 * else NULL. *is_waiting is set if the op needs data that is not there yet. */
bool plan_infer_op(struct plan *plan, const struct op *op, void *state, struct irrun_tensor *out,
                   bool has_data, struct arena *arena, int64_t **views, bool *is_waiting,
                   struct irrun_error *err);

/* Makes steps of what is needed. */
bool plan_make_steps(struct plan *plan, struct irrun_error *err);

/* Which inputs prepare is going to prepack, as a set of 1 << i; the slots `in` may lack data. */
bool plan_prepacked_inputs(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                           uint32_t *prepacked, struct irrun_error *err);

/* Runs prepare of an op whose operands are the slots `in` and `out`; `prepacked` is what
 * plan_prepacked_inputs said before any of them was widened. *made is what it set. */
bool plan_prepare_op(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                     const uint32_t *out, uint32_t prepacked, struct prepared *made,
                     struct irrun_error *err);

/* Gives every root slot of kind SLOT_BLOCK its offset, behind `scratch_bytes`; sets block_bytes. */
bool plan_place_slots(struct plan *plan, size_t scratch_bytes, struct irrun_error *err);

#endif
