/* Turns a graph and concrete shapes into a plan: steps in order, an address for every value, and
 * the kernels to call.
 *
 * If a shape depends on data (NonZero, a slice with computed bounds), the plan ends before that op.
 * The rest is another plan, made when the data is known: plan_continue.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PLAN_H
#define IRRUN_PLAN_PLAN_H

#include "ops/body.h"
#include "ops/op.h"
#include "plan/model.h"
#include "plan/step_times.h"

enum slot_kind {
    SLOT_NONE,     /* not planned, or unused */
    SLOT_CONSTANT, /* its data never changes */
    SLOT_BLOCK,    /* at an offset of the plan's block */
    SLOT_INPUT,    /* the caller's memory for Parameter `index` */
    SLOT_VARIABLE, /* the current value of variable `index` */
    SLOT_OUTER     /* slot `index` of the plan before this one */
};

/* The memory of a value. Slots 0 … n_values-1 are the graph's values; their conversions follow. */
struct slot {
    struct irrun_tensor tensor; /* dtype as in memory */
    enum irrun_dtype declared;
    enum slot_kind kind;
    uint32_t root; /* the slot with the same elements in the same memory; itself if none */
    /* For a root that is a view of a part of another slot: that slot, and the offset in it, in
     * bytes. NO_ID: the root has memory of its own. */
    uint32_t parent;
    size_t parent_offset;
    uint32_t index;
    uint32_t converted; /* the same value as f32 or in 16 bits, if it was converted; else NO_ID */
    uint32_t first_step, last_step; /* root only: its memory is in use from first to last */
    size_t offset;                  /* in the block; for a part of a moving slot, in that slot */
    bool is_needed;
    /* Where the same elements are too, as these runs of slot `source`; count 0: nowhere. */
    struct runs runs;
    uint32_t source;
    struct append *append; /* whose variable this is, before or after; NULL: of none */
};

/* What a plan reads from or writes to a variable; the session allocates for it. */
struct variable_use {
    uint32_t variable;
    size_t size_bytes;
    bool is_append; /* the new value takes the memory of the old one */
};

/* The state of a Concat that adds to a variable, and is its next value: what is new is written
 * behind what is there, which stays where it is. The tensor is rows, along the axis of the Concat;
 * the variable has room for longer ones. */
struct append {
    uint32_t variable;
    uint32_t state, added, choice; /* slots; choice: the indices of a Gather in between, or NO_ID */
    uint32_t result;
    size_t n_rows, old_rows;                   /* of the result, and of the variable */
    size_t rows_per_index;                     /* which an index chooses */
    size_t old_bytes, added_bytes, room_bytes; /* of a row */
    bool is_refused;
};

/* The state of a ReadValue or Assign step, run by functions of runtime/variables.c. */
struct variable_step {
    uint32_t variable;
};
bool run_read_value(const struct step *step, struct irrun_error *err);
bool run_assign(const struct step *step, struct irrun_error *err);
/* Of an Assign whose input is the ReadValue of its variable: the value stays where it is. */
bool run_keep(const struct step *step, struct irrun_error *err);
/* Inputs: the variable before, what is added, and the indices, if there are any. */
bool run_append(const struct step *step, struct irrun_error *err);

/* The state of a variable when a plan is made. */
struct variable_state {
    bool is_set;
    enum irrun_dtype dtype;
    struct irrun_shape shape;
    size_t capacity_bytes; /* of the memory it is in */
};

struct plan_request {
    struct model *model;
    const struct graph *graph;
    const struct irrun_tensor *const
        *in;                 /* per Parameter: type and shape; data where is_constant */
    const bool *is_constant; /* per Parameter; NULL = none is constant */
    const struct variable_state *variables; /* per variable of the model */
    bool is_body;                           /* Parameters and Results hold f16 and bf16 as f32 */
    struct irrun_session *session;          /* for steps that need it */
    struct step_times_table *times;         /* NULL: steps are not timed */
    struct thread_pool *pool;               /* of the session; NULL = one thread */
};

/* A body's runner and the graph it was made for. */
struct owned_runner {
    const struct graph *graph;
    struct runner *runner;
};

/* An entry of step->data, and the tensor whose data it copies. */
struct moving_operand {
    void **data;
    const struct irrun_tensor *tensor;
};

/* Several fused element-wise ops: the state of a step, or the epilogue of a product. */
struct fused_state {
    struct epilogue epilogue; /* step->epilogue points here */
    struct fused_state *next; /* in the plan's list */
    struct fused_instruction *program;
    struct fused_operand {
        uint32_t instruction, slot; /* the instruction that reads the slot; NO_ID: the bias */
    } * operands;
    size_t n_operands;
    size_t n; /* elements of a step */
};
bool is_fused_step(const struct step *step);

/* Plans made for different shapes, the oldest first. */
#define PLAN_SET_MAX 8
struct plan_set {
    struct plan *items[PLAN_SET_MAX];
    uint32_t n;
};

struct planned_op;

struct plan {
    struct arena arena;
    struct plan_request request;
    struct arena *op_arena; /* for infer and prepare: this plan's, or the outer plan's head_arena */
    struct owned_runner *runners;
    size_t n_runners, runners_capacity;
    uint32_t begin, end; /* positions in graph->order; end < n_order: op `end` needs data */

    struct slot *slots;
    size_t n_slots, slots_capacity;
    struct planned_op *planned;
    uint32_t n_planned;

    struct step *steps; /* all, in order */
    uint32_t n_steps;
    struct step *main_steps; /* without steps needed only for initial values */
    uint32_t n_main_steps;
    uint32_t n_view_ops;                  /* ops that are views */
    uint32_t n_fused_ops, n_epilogue_ops; /* in main_steps: fused with each other, with a product */
    struct fused_state *fused_states;     /* of all steps; NULL: none */
    struct variable_use *uses;
    size_t n_uses, uses_capacity;
    uint32_t *results;    /* slot per Result of the graph; NO_ID if a continuation computes it */
    size_t scratch_bytes; /* at the start of the block, shared by all steps */
    size_t block_bytes;

    unsigned char *block;   /* aligned to 64 bytes */
    size_t block_capacity;  /* its size; block_bytes of it are in use */
    uint32_t *moving_slots; /* slots whose address follows an input, a variable or the outer plan */
    uint32_t n_moving_slots;
    struct moving_operand *moving_operands; /* of steps, whose address follows such a slot */
    size_t n_moving_operands, moving_operands_capacity;

    struct plan *outer;      /* the plan that this one continues */
    struct arena head_arena; /* for infer of the op at `end`, called in every iteration */
    struct plan_set continuations;
    struct step
        *head_steps[2];      /* of the op at `begin` in a continuation, in steps and main_steps */
    uint32_t head_prepacked; /* the inputs that this op prepacks */
};

/* Makes a plan and its memory. `old`, if not NULL, is an unused plan whose memory is reused; it is
 * freed, also on failure. NULL with *err filled on failure. The caller holds the model's lock. */
struct plan *plan_new(const struct plan_request *request, struct plan *old,
                      struct irrun_error *err);
void plan_free(struct plan *plan);

/* Removes the oldest plan that is not in_use from a full set, and returns it; NULL if the set is
 * not full. in_use may be NULL.
 * */
struct plan *plan_set_evict(struct plan_set *set, const struct plan *in_use);
void plan_set_free(struct plan_set *set);

/* Returns the plan for the ops from plan->end on, when all slots of `plan` have data: a kept plan
 * if the shapes match, otherwise a new one. The caller holds the lock of the model. */
struct plan *plan_continue(struct plan *plan, struct irrun_error *err);

/* Whether the shapes of every Result are known. */
static inline bool plan_is_complete(const struct plan *plan)
{
    return plan->end == plan->request.graph->n_order;
}

/* Returns the slot of an operand of a step or an op of the plan. A slot begins with its tensor. */
static inline const struct slot *slot_of(const struct irrun_tensor *tensor)
{
    return (const struct slot *)(const void *)tensor;
}

/* Follows `root` to the slot whose memory this one shares. */
static inline uint32_t plan_root(const struct plan *plan, uint32_t slot_id)
{
    while (plan->slots[slot_id].root != slot_id)
        slot_id = plan->slots[slot_id].root;
    return slot_id;
}

/* Returns the slot that owns the memory of this one, and the offset in it. */
static inline uint32_t plan_owner(const struct plan *plan, uint32_t slot_id, size_t *offset)
{
    uint32_t owner = plan_root(plan, slot_id);
    *offset = 0;
    while (plan->slots[owner].parent != NO_ID) {
        *offset += plan->slots[owner].parent_offset;
        owner = plan_root(plan, plan->slots[owner].parent);
    }
    return owner;
}

#endif
