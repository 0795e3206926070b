/* Steps before their tensors have their final addresses: step_pass makes them, fuse_elementwise
 * merges them, and emit_steps turns them into steps.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_STEP_BUILDER_H
#define IRRUN_PLAN_STEP_BUILDER_H

#include "plan/plan_internal.h"

struct pending_step {
    struct prepared made;
    const struct op *op;
    const struct op *const *members; /* the ops that run as this step; NULL: op alone */
    uint32_t n_members;
    const void *state;                  /* NULL: a conversion */
    const struct fused_state *epilogue; /* NULL: none */
    uint32_t *in, *out;                 /* slot ids */
    uint32_t n_inputs, n_outputs;
    bool is_main; /* false: only for initial values */
};

struct step_builder {
    struct plan *plan;
    struct pending_step *steps;
    size_t n, capacity;
    size_t scratch_bytes;
    bool is_main; /* of the current op */
};

/* Records that step number `step` uses a slot. */
void step_use_slot(struct plan *plan, uint32_t slot_id, uint32_t step);

/* Fuses each run of element-wise steps into one step, or into the product before it; slots that no
 * other step reads get no memory. */
bool step_builder_fuse(struct step_builder *builder, struct irrun_error *err);

/* Makes the steps of the plan. */
bool step_builder_emit(const struct step_builder *builder, struct irrun_error *err);

#endif
