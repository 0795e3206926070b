/* Types and functions shared by the files that update a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_UPDATE_INTERNAL_H
#define IRRUN_PLAN_UPDATE_INTERNAL_H

#include "plan/plan_internal.h"

/* The ops, conversions and steps that updates of a plan change. */
struct varying {
    struct varying_op {
        const struct op *op;
        struct planned_op *planned; /* NULL if there is none */
    } * ops;
    uint32_t *conversions; /* slots of converted values */
    uint32_t *steps;       /* indices of steps */
    size_t n_ops, n_conversions, n_steps;
};

struct update {
    struct plan *plan;
    bool has_new;           /* something varies that did not vary before */
    bool is_moved;          /* the offset of a slot in its parent has changed */
    struct irrun_error err; /* not reported: a new plan fails in the same way */
};

/* Infers all ops that vary. If more ops vary than before, fills plan->varying again. */
bool update_infer(struct update *update);

static inline void update_offset(struct update *update, struct slot *slot, size_t offset)
{
    update->is_moved |= slot->parent_offset != offset;
    slot->parent_offset = offset;
}

#endif
