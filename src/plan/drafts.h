/* Steps before their tensors have their final addresses: what step_pass makes, fuse_elementwise
 * merges and finish_steps turns into steps.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_DRAFTS_H
#define IRRUN_PLAN_DRAFTS_H

#include "plan/plan.h"

struct draft {
    struct prepared made;
    const struct op *op;
    const void *state;                  /* NULL: a conversion */
    const struct fused_state *epilogue; /* NULL: none */
    uint32_t *in, *out;                 /* slot ids */
    uint32_t n_inputs, n_outputs;
    bool is_main; /* not for initial values alone */
};

struct drafts {
    struct plan *plan;
    struct draft *items;
    size_t n, capacity;
    size_t scratch_bytes;
    bool is_main; /* of the op at hand */
};

/* Notes that the draft of number `step` uses a slot. */
void draft_use_slot(struct plan *plan, uint32_t slot_id, uint32_t step);

/* Merges runs of element-wise drafts into one each, or into the product before them; the slots that
 * nobody else reads get no memory. */
bool drafts_fuse(struct drafts *drafts, struct irrun_error *err);

/* Makes the steps of the plan. */
bool drafts_finish(const struct drafts *drafts, struct irrun_error *err);

#endif
