/* Turns a graph and the shapes at hand into something that runs without a question left: steps in
 * order, a place for every value, kernels chosen.
 *
 * Where a shape depends on data (NonZero, a slice from computed bounds) the plan ends before that
 * op. What comes after is a plan of its own, made once the data is there: plan_continue.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PLAN_H
#define IRRUN_PLAN_PLAN_H

#include "ops/body.h"
#include "ops/op.h"
#include "plan/model.h"

enum slot_kind {
    SLOT_NONE,     /* not planned, or nobody needs it */
    SLOT_CONSTANT, /* data is there and stays */
    SLOT_BLOCK,    /* at an offset of the plan's block */
    SLOT_INPUT,    /* the caller's memory for Parameter `index` */
    SLOT_VARIABLE, /* the current value of variable `index` */
    SLOT_OUTER     /* slot `index` of the plan before this one */
};

/* Where a value lies. Slots 0 … n_values-1 are the graph's values; their conversions follow. */
struct slot {
    struct irrun_tensor tensor; /* dtype as in memory */
    enum irrun_dtype declared;
    enum slot_kind kind;
    uint32_t root; /* the slot that has the same elements in the same memory; itself if none */
    /* Of a root that is a part of another slot: that one, or NO_ID, and where it begins there, in
     * bytes. It has an identity of its own, but no memory. */
    uint32_t whole;
    size_t whole_offset;
    uint32_t index;
    uint32_t converted; /* its value in the other form, f32 or 16 bits, once made; NO_ID */
    uint32_t first_step, last_step; /* of a root: when its memory is in use */
    size_t offset;                  /* in the block; of a part of what moves, in that */
    bool is_needed;
};

/* What a plan reads from or writes to a variable, so that the session can make room. */
struct variable_use {
    uint32_t variable;
    struct irrun_shape shape;
    enum irrun_dtype dtype;
};

/* The state of a ReadValue or Assign step, run by functions of runtime/variables.c. */
struct variable_step {
    uint32_t variable;
};
bool run_read_value(const struct step *step, struct irrun_error *err);
bool run_assign(const struct step *step, struct irrun_error *err);

/* What is known of a variable when a plan is made. */
struct variable_state {
    bool is_set;
    enum irrun_dtype dtype;
    struct irrun_shape shape;
};

struct plan_request {
    struct model *model;
    const struct graph *graph;
    const struct irrun_tensor *const
        *in;                 /* per Parameter: type and shape; data where is_constant */
    const bool *is_constant; /* per Parameter; NULL = none is */
    const struct variable_state *variables; /* per variable of the model */
    bool is_body;                           /* Parameters and Results hold f16 and bf16 as f32 */
    struct session *session;                /* for steps that need it */
    struct thread_pool *pool;               /* of the session; NULL = one thread */
};

/* A body's runner and the graph it was made for. */
struct owned_runner {
    const struct graph *graph;
    struct runner *runner;
};

/* An entry of step->data, and what it is a copy of. */
struct moving_operand {
    void **data;
    const struct irrun_tensor *tensor;
};

/* What several element-wise ops became: a step of its own, whose state this is, or the epilogue of
 * a product. */
struct fused_state {
    struct epilogue epilogue; /* step->epilogue leads here */
    struct fused_state *next; /* of the plan's */
    struct fused_instruction *program;
    struct fused_operand {
        uint32_t instruction, slot; /* where the program has the slot's address; NO_ID: the bias */
    } * operands;
    size_t n_operands;
};
bool run_fused_step(const struct step *step, struct irrun_error *err);

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
    struct arena *op_arena; /* for infer and prepare: this plan's, or the head_arena before it */
    struct owned_runner *runners;
    size_t n_runners, runners_capacity;
    uint32_t begin, end; /* positions in graph->order; end < n_order: that op waits for data */

    struct slot *slots;
    size_t n_slots, slots_capacity;
    struct planned_op *planned;
    uint32_t n_planned;

    struct step *steps; /* all, in order */
    uint32_t n_steps;
    struct step *main_steps; /* without those that only initial values need */
    uint32_t n_main_steps;
    uint32_t n_view_ops;                  /* that turned out to be views */
    uint32_t n_fused_ops, n_epilogue_ops; /* of main_steps: joined to each other, to a product */
    struct fused_state *fused_states;     /* of all steps; NULL: none */
    struct variable_use *uses;
    size_t n_uses, uses_capacity;
    uint32_t *results;    /* slot per Result of the graph; NO_ID if a later part makes it */
    size_t scratch_bytes; /* at the start of the block, shared by all steps */
    size_t block_bytes;

    unsigned char *block;   /* aligned to 64 bytes */
    size_t block_capacity;  /* its size; block_bytes of it are in use */
    uint32_t *moving_slots; /* slots whose data follows an input, a variable or the outer plan */
    uint32_t n_moving_slots;
    struct moving_operand *moving_operands; /* of steps, whose data follows such a slot */
    size_t n_moving_operands, moving_operands_capacity;

    struct plan *outer;      /* the part before this one */
    struct arena head_arena; /* for what infer makes of the op at `end` in every iteration */
    struct plan_set continuations;
    struct step
        *head_steps[2];      /* of the op at `begin` in a continuation, in steps and main_steps */
    uint32_t head_prepacked; /* the inputs that this op prepacks */
};

/* Makes a plan and its memory. `old`, if not NULL, is a plan that nobody wants any more: its memory
 * is used again, and it is gone afterwards, on failure too. NULL with *err filled on failure. The
 * model's lock is held. */
struct plan *plan_new(const struct plan_request *request, struct plan *old,
                      struct irrun_error *err);
void plan_free(struct plan *plan);

/* Takes the oldest plan out of a set that is full, but not the one in use (NULL: none is). NULL if
 * there is room.
 */
struct plan *plan_set_evict(struct plan_set *set, const struct plan *in_use);
void plan_set_free(struct plan_set *set);

/* The plan for what comes after plan->end, now that all slots of `plan` have data: from those made
 * already if the shapes are known, else a new one. The model's lock is held. */
struct plan *plan_continue(struct plan *plan, struct irrun_error *err);

/* Whether the shapes of every Result are known. */
static inline bool plan_is_complete(const struct plan *plan)
{
    return plan->end == plan->request.graph->n_order;
}

/* The slot of a tensor that a step or an op of the plan has: a slot begins with its tensor. */
static inline const struct slot *slot_of(const struct irrun_tensor *tensor)
{
    return (const struct slot *)(const void *)tensor;
}

/* The slot whose memory this one shares in the end. */
static inline uint32_t plan_root(const struct plan *plan, uint32_t slot_id)
{
    while (plan->slots[slot_id].root != slot_id)
        slot_id = plan->slots[slot_id].root;
    return slot_id;
}

/* The slot in whose memory this one lies, and where in it. */
static inline uint32_t plan_home(const struct plan *plan, uint32_t slot_id, size_t *offset)
{
    uint32_t home = plan_root(plan, slot_id);
    *offset = 0;
    while (plan->slots[home].whole != NO_ID) {
        *offset += plan->slots[home].whole_offset;
        home = plan_root(plan, plan->slots[home].whole);
    }
    return home;
}

#endif
