/* Collects pending steps, whose tensors have no addresses yet. step_pass adds them,
 * fuse_elementwise merges them, and emit_steps makes the steps of the plan from them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_STEP_BUILDER_H
#define IRRUN_PLAN_STEP_BUILDER_H

#include "plan/plan_internal.h"

struct pending_step {
    struct prepared made;
    const struct op *op;
    const struct op *const *members; /* ops that are fused into this step; NULL: only op */
    uint32_t n_members;
    const void *state;         /* NULL if the step converts a type instead of running op */
    struct step_source source; /* without main and cost, which are made with the step */
    uint32_t *in, *out;        /* slot ids */
    uint32_t n_inputs, n_outputs;
    bool is_main; /* false: only needed for initial values */
};

struct step_builder {
    struct plan *plan;
    struct pending_step *steps;
    size_t n, capacity;
    size_t scratch_bytes;
    bool is_main; /* is_main of the current op */
};

/* Records that step number `step` uses a slot. */
void step_use_slot(struct plan *plan, uint32_t slot_id, uint32_t step);

/* Adds a step, and records which slots it uses. */
bool step_add(struct step_builder *builder, const struct pending_step *pending,
              struct irrun_error *err);

/* Computes the constants among n slots, except for in[i] if bit i of `prepacked` is set. */
bool step_demand_constants(struct plan *plan, const uint32_t *in, uint32_t n, uint32_t prepacked,
                           struct irrun_error *err);

/* Returns a slot that holds the value of slot_id in type `dtype`. Converts a value once for all its
 * readers. Returns NO_ID on failure. */
uint32_t step_slot_as(struct step_builder *builder, const struct op *op, uint32_t slot_id,
                      enum irrun_dtype dtype, struct irrun_error *err);

/* Makes the steps of a ReadValue or Assign, and of a Concat that appends (variable_steps.c). */
bool step_lower_variable(struct step_builder *builder, struct planned_op *planned,
                         struct irrun_error *err);
bool step_lower_append(struct step_builder *builder, struct planned_op *planned,
                       struct irrun_error *err);

/* Fuses consecutive element-wise steps into one step, or into the product before them. Slots that
 * no other step reads get no memory. */
bool step_builder_fuse(struct step_builder *builder, struct irrun_error *err);

/* Makes the steps of the plan. */
bool step_builder_emit(const struct step_builder *builder, struct irrun_error *err);

#endif
