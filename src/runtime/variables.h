/* The variables of a session: the value from before the iteration, which every ReadValue sees, and
 * the one that Assign writes beside it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_VARIABLES_H
#define IRRUN_RUNTIME_VARIABLES_H

#include "plan/plan.h"

/* Three buffers: the value committed by the last iteration; the current one, which differs from it
 * only while a body that holds the Assign goes through its passes; and the one being written. */
struct variable {
    const struct variable_decl *decl;
    void *buffers[3];
    size_t capacity[3];
    uint8_t committed, current, next; /* which buffer; next is neither of the other two */
    struct irrun_tensor value; /* the current one, or where it will be; dtype and shape if is_set */
    struct irrun_tensor written;
    struct irrun_tensor before; /* the committed value while current differs from it */
    bool is_set, was_set;       /* current, committed */
    bool is_written;            /* by an Assign since the last pass ended */
    bool is_ahead;              /* current differs from committed */
};

struct variables {
    struct variable *items;
    struct variable_state *states; /* of the current values, for the planner */
    uint32_t n;
    uint32_t n_unset;
    bool is_shape_changed; /* since the flag was last cleared: a plan may no longer fit */
};

bool variables_new(struct variables *variables, const struct model *model, struct irrun_error *err);
void variables_free(struct variables *variables);

/* Makes room for what a plan reads and writes. */
bool variables_reserve(struct variables *variables, const struct variable_use *uses, size_t n_uses,
                       struct irrun_error *err);

/* The end of a pass: what was written becomes current. */
void variables_advance(struct variables *variables);
/* The end of an iteration: what is current stays. */
void variables_commit(struct variables *variables);
/* An iteration failed: back to what was committed. */
void variables_roll_back(struct variables *variables);

/* All unset. */
void variables_reset(struct variables *variables);
/* Copies a value from outside; type and shape were checked. */
bool variable_set(struct variables *variables, uint32_t index, const struct irrun_tensor *tensor,
                  struct irrun_error *err);

#endif
