/* Shared by the files that make a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PLAN_INTERNAL_H
#define IRRUN_PLAN_PLAN_INTERNAL_H

#include "plan/plan.h"

/* An op of the plan after inference, before its step is made. */
struct planned_op {
    const struct op *op;
    void *state;
    bool is_view;
    struct append *append; /* NULL: none */
};

/* plan_operand returns the slot that an op reads as input i: its own, or if plan_reads_source the
 * source of that slot. */
bool plan_reads_source(const struct plan *plan, const struct op *op, uint32_t i);
uint32_t plan_operand(const struct plan *plan, const struct op *op, uint32_t i);

/* Finds repeated values that are not computed because all ops read their source, and the Concats
 * that append to a variable (append.c). */
bool plan_find_appends(struct plan *plan, struct irrun_error *err);

/* Returns whether an op reads and writes its 16-bit operands as f32. The slots of its inputs must
 * be set. */
bool plan_widens(const struct plan *plan, const struct op *op);

/* Infers and folds the ops from plan->begin on; sets plan->end. `head` has the state and the
 * outputs of op `begin` if it is already inferred. */
struct head {
    void *state;
    struct irrun_tensor *out;
};
bool plan_infer(struct plan *plan, const struct head *head, struct irrun_error *err);

/* Infers one op. *views: for each output the first element in input 0, if outputs are views of it;
 * otherwise NULL. *is_waiting: the op needs data that is not computed yet. */
bool plan_infer_op(struct plan *plan, const struct op *op, void *state, struct irrun_tensor *out,
                   bool has_data, struct arena *arena, int64_t **views, bool *is_waiting,
                   struct irrun_error *err);

/* Makes the steps of all ops that are needed. */
bool plan_make_steps(struct plan *plan, struct irrun_error *err);

/* Finds the inputs that prepare will prepack, as a set of 1 << i. The slots `in` may have no data
 * yet. */
bool plan_prepacked_inputs(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                           uint32_t *prepacked, struct irrun_error *err);

/* Returns the number of outputs of the op's step: without trailing ones that are optional and that
 * no step reads. */
uint32_t plan_count_outputs(const struct plan *plan, const struct op *op);

/* Calls prepare of an op with operands in the slots `in` and `out`; fills *made. `prepacked` is the
 * result of plan_prepacked_inputs before any input was widened. */
bool plan_prepare_op(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                     const uint32_t *out, uint32_t prepacked, struct prepared *made,
                     struct irrun_error *err);

/* Sets the offset of every root slot of kind SLOT_BLOCK, after `scratch_bytes`; sets
 * block_bytes. */
bool plan_place_slots(struct plan *plan, size_t scratch_bytes, struct irrun_error *err);

#endif
