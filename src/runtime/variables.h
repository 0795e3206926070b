/* The variables of a session: the value from before the iteration, which every ReadValue reads, and
 * the next value, which Assign writes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_VARIABLES_H
#define IRRUN_RUNTIME_VARIABLES_H

#include "plan/plan.h"

/* The rows of a tensor that appends make longer. */
struct variable_rows {
    size_t n, room_bytes; /* they are so far apart; 0: the tensor is dense */
};

/* Three buffers: the value committed by the last iteration; the current one, which differs from it
 * only while a body with the Assign runs its iterations; and the one being written. */
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
    struct variable_rows rows, written_rows;
    bool is_appended; /* `written` is by an append … */
    bool is_moved;    /* … in the next buffer */
};

struct variables {
    struct variable *items;
    struct variable_state *states; /* of the current values, for the planner */
    uint32_t n;
    uint32_t n_unset;
    bool is_shape_changed; /* since the flag was last cleared: a plan may no longer fit */
    bool has_room;         /* a variable may not be dense */
};

bool variables_new(struct variables *variables, const struct model *model, struct irrun_error *err);
void variables_free(struct variables *variables);

/* Allocates for the values that a plan reads and writes. */
bool variables_reserve(struct variables *variables, const struct variable_use *uses, size_t n_uses,
                       struct irrun_error *err);

/* Makes dense what is read other than by an append. */
void variables_pack(struct variables *variables, const struct variable_use *uses, size_t n_uses);
void variable_pack(struct variable *variable);

/* Makes room in one buffer, and keeps its data; if there is memory, preferred_bytes. */
bool variable_grow(struct variable *variable, uint8_t buffer, size_t size_bytes,
                   size_t preferred_bytes, struct irrun_error *err);

/* Commits what an append has written. */
void variable_commit_append(struct variable *variable);

/* Ends an iteration of a body: the written values become current. */
void variables_advance(struct variables *variables);
/* Ends an iteration: commits the current values. */
void variables_commit(struct variables *variables);
/* Restores the committed values after a failed iteration. */
void variables_roll_back(struct variables *variables);

/* Makes all variables unset. */
void variables_reset(struct variables *variables);
/* Copies a value of the caller, whose type and shape were checked. */
bool variable_set(struct variables *variables, uint32_t index, const struct irrun_tensor *tensor,
                  struct irrun_error *err);

#endif
