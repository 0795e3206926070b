/* The variables of a session. A variable has the value from before the iteration, which ReadValues
 * read, and the next value, which an Assign writes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_VARIABLES_H
#define IRRUN_RUNTIME_VARIABLES_H

#include "plan/plan.h"

/* How the rows of a variable lie in memory. An append adds elements at the end of each row: see
 * struct append in plan.h. */
struct variable_rows {
    size_t n, stride_bytes; /* stride_bytes: the stride of rows; 0: the tensor is dense */
};

/* The three buffers hold the value that the last iteration committed, the current value, and the
 * value that is being written. The current value differs from the committed one only while a body
 * that contains the Assign runs its iterations. */
struct variable {
    const struct variable_decl *decl;
    void *buffers[3];
    size_t capacity[3];
    uint8_t committed, current, next; /* indices of buffers; next differs from the others */
    struct irrun_tensor
        value; /* the current value; unless is_set, only `data`, its buffer, is valid */
    struct irrun_tensor written;
    struct irrun_tensor before; /* the committed value, while the current one differs */
    bool is_set, was_set;       /* whether there is a current value, and a committed one */
    bool is_written;            /* an Assign has run in this iteration of the model or body */
    bool is_ahead;              /* the current value is not the committed one */
    struct variable_rows rows, written_rows;
    bool is_appended; /* `written` is the result of an append */
    bool is_moved;    /* if is_appended: the result is in the next buffer, not the current one */
};

struct variables {
    struct variable *items;
    struct variable_state *states; /* types and shapes of the current values, for planning */
    uint32_t n;
    uint32_t n_unset;      /* number of variables without a current value */
    bool is_shape_changed; /* the current plan may no longer fit */
    bool has_strided;      /* a variable may have strided rows */
};

bool variables_new(struct variables *variables, const struct model *model, struct irrun_error *err);
void variables_free(struct variables *variables);

/* Allocates memory for the values that a plan reads and writes. */
bool variables_reserve(struct variables *variables, const struct variable_use *uses, size_t n_uses,
                       struct irrun_error *err);

/* Make rows dense: those of one variable, or of all variables that ops other than appends use. */
void variables_pack(struct variables *variables, const struct variable_use *uses, size_t n_uses);
void variable_pack(struct variable *variable);

/* Enlarges one buffer and keeps its data; uses preferred_bytes if there is enough memory. */
bool variable_grow(struct variable *variable, uint8_t buffer, size_t size_bytes,
                   size_t preferred_bytes, struct irrun_error *err);

/* Commits the result of an append. */
void variable_commit_append(struct variable *variable);

/* Ends an iteration of a body: the written values become current. */
void variables_advance(struct variables *variables);
/* Ends an iteration: commits the current values. */
void variables_commit(struct variables *variables);
/* Restores the committed values after a failed iteration. */
void variables_roll_back(struct variables *variables);

/* Makes all variables unset. */
void variables_reset(struct variables *variables);
/* Sets a variable to a copy of a value. The caller has checked the type and shape of the value. */
bool variable_set(struct variables *variables, uint32_t index, const struct irrun_tensor *tensor,
                  struct irrun_error *err);

#endif
