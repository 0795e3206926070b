/* Shared by the files that update a plan for other shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_UPDATE_INTERNAL_H
#define IRRUN_PLAN_UPDATE_INTERNAL_H

#include "plan/plan_internal.h"

/* What updates of a plan change. */
struct varying {
    struct varying_op {
        const struct op *op;
        struct planned_op *planned; /* NULL if there is none */
    } * ops;
    uint32_t *conversions, *steps; /* slots, indices of steps */
    size_t n_ops, n_conversions, n_steps;
};

struct update {
    struct plan *plan;
    bool has_new;           /* something varies that did not vary before */
    bool is_moved;          /* the offset of a slot in its parent has changed */
    struct irrun_error err; /* not reported: a new plan fails in the same way */
};

/* Infers all ops that vary. If more of them vary than before, lists again what varies. */
bool update_infer(struct update *update);

static inline void update_offset(struct update *update, struct slot *slot, size_t offset)
{
    update->is_moved |= slot->parent_offset != offset;
    slot->parent_offset = offset;
}

#endif
