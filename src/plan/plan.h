/* Turns a graph and concrete shapes into a plan: steps in order, an address for every value, and
 * the kernels to call.
 *
 * If a shape depends on data (NonZero, a slice with computed bounds), the plan ends before that op.
 * When the data is known, plan_continue makes a plan for the remaining ops.
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
    SLOT_OUTER     /* slot `index` of the outer plan, which this one continues */
};

/* The memory of a value. Slots 0 to n_values - 1 belong to the values of the graph; slots for
 * copies in other types follow. */
struct slot {
    struct irrun_tensor tensor; /* dtype as in memory */
    enum irrun_dtype declared;  /* dtype as in the graph */
    enum slot_kind kind;
    uint32_t root; /* slot with the same elements in the same memory, or this slot */
    /* If a root is a view of a part of a larger slot: that slot, and the byte offset in it. NO_ID:
     * the root has its own memory. */
    uint32_t parent;
    size_t parent_offset;
    uint32_t index;
    uint32_t converted; /* the slot of the value converted to f32 or 16 bits, or NO_ID */
    /* For a root: the first and the last step that use its memory. first_step is NO_ID if no step
     * uses it; last_step is NO_ID if the memory is in use until the end of the run. */
    uint32_t first_step, last_step;
    size_t offset;     /* in the block; for a slot in moving_slots: in the slot that owns it */
    size_t room_bytes; /* reserved at this offset of the block */
    bool is_needed;    /* a Result or a step needs the value */
    bool is_varying;   /* an update has changed its shape, or the data of a constant */
    bool gets_room;    /* reserve room to grow: it varied in the previous plan in this memory */
    /* If runs.count is not 0, the value consists of the elements of slot `original`, with each run
     * of elements repeated (struct runs). In the slot of a conversion, `original` is the slot
     * that is converted. */
    struct runs runs;
    uint32_t original;
    struct append *append; /* the append whose old or new value this slot holds; NULL: none */
};

/* How a plan uses a variable; the session allocates memory for it. */
struct variable_use {
    uint32_t variable;
    size_t size_bytes;
    bool is_append; /* the new value is appended in the memory of the old one */
};

/* The state of a Concat that appends to a variable. Its result is the next value of the variable.
 * The step writes only the new elements, after the old ones, which are not copied. A row is the
 * part of the tensor at one index of the dimensions before the axis of the Concat. The memory of
 * the variable has room after each row. */
struct append {
    uint32_t variable, axis;
    uint32_t state, added;   /* slots: the old value, and the new elements */
    uint32_t indices;        /* slot: the indices of a Gather before the Concat, or NO_ID */
    uint32_t result;         /* slot */
    size_t n_rows, old_rows; /* rows of the result, and of the old value */
    size_t rows_per_index;   /* number of rows that each index of the Gather selects */
    size_t old_bytes, added_bytes, stride_bytes; /* per row */
    bool is_refused;     /* an op cannot read it in place: an ordinary Concat runs instead */
    struct append *next; /* next in the plan's list */
};

/* The state of a ReadValue or Assign step, which functions of runtime/variables.c run. */
struct variable_step {
    uint32_t variable;
};
bool run_read_value(const struct step *step, struct irrun_error *err);
bool run_assign(const struct step *step, struct irrun_error *err);
/* Runs an Assign whose input is the ReadValue of its variable, so that nothing is copied. */
bool run_assign_unchanged(const struct step *step, struct irrun_error *err);
/* Inputs: the old value of the variable, the new elements, and the indices of a Gather, if any. */
bool run_append(const struct step *step, struct irrun_error *err);

/* The state of a variable when a plan is made. */
struct variable_state {
    bool is_set;
    enum irrun_dtype dtype;
    struct irrun_shape shape;
    size_t capacity_bytes; /* size of its memory */
};

struct plan_request {
    struct model *model;
    const struct graph *graph;
    const struct irrun_tensor *const
        *in;                 /* for each Parameter: type and shape; data where is_constant */
    const bool *is_constant; /* for each Parameter; NULL: none is constant */
    const struct variable_state *variables; /* for each variable of the model */
    bool is_body; /* a body; its f16 and bf16 Parameters and Results are stored as f32 */
    struct irrun_session *session;  /* for steps that use it */
    struct step_times_table *times; /* NULL: steps are not timed */
    struct thread_pool *pool;       /* the session's pool; NULL: one thread */
};

/* A body's runner and the graph it was made for. */
struct owned_runner {
    const struct graph *graph;
    struct runner *runner;
};

/* An entry of step->data, and the tensor whose data pointer it holds. */
struct moving_operand {
    void **data;
    const struct irrun_tensor *tensor;
};

/* Several fused element-wise ops: the state of a step, or of the epilogue of a product. */
struct fused_state {
    struct epilogue epilogue; /* step->epilogue points here */
    struct fused_state *next; /* next in the plan's list */
    struct fused_instruction *program;
    struct fused_operand {
        uint32_t instruction, slot;      /* the instruction that reads the slot; NO_ID: the bias */
        const struct planned_op *reader; /* NULL: the operand is all elements of a slot */
        uint32_t input;                  /* index of the input of the reader */
        struct epilogue_operand *where;  /* NULL: the bias */
    } * operands;
    size_t n_operands;
    size_t n; /* number of elements that each member computes */
    uint32_t n_spills;
    const struct planned_op **members; /* the product, if there is one, and element-wise ops */
    uint32_t n_members;
};
bool is_fused_step(const struct step *step);

/* Plans for different shapes, oldest first. */
#define PLAN_SET_MAX 8
/* Limit while a state grows: one plan for first records, and two for later ones. */
#define PLAN_SET_GROWN 3
struct plan_set {
    struct plan *items[PLAN_SET_MAX];
    uint32_t n;
};

struct planned_op;
struct step_source;
struct varying;

struct plan {
    struct arena arena;
    struct arena varying_arena; /* memory that the last update allocated */
    struct varying *varying;    /* what updates change; NULL: no update yet */
    struct plan_request request;
    struct arena temporary; /* for infer, prepare or folding of one op */
    struct arena *op_arena; /* for infer and prepare: arena, varying_arena or a head_arena */
    struct owned_runner *runners;
    size_t n_runners, runners_capacity;
    uint32_t begin, end; /* positions in graph->order; if end < n_order, op `end` waits for data */

    struct slot *slots;
    size_t n_slots, slots_capacity;
    struct planned_op *planned;
    uint32_t n_planned;

    struct step *steps; /* all, in order */
    uint32_t n_steps;
    struct step *main_steps; /* without steps needed only for initial values */
    uint32_t n_main_steps;
    struct step_source *sources;      /* what each step was made from */
    uint32_t n_view_ops;              /* ops that are views */
    uint32_t n_fused_ops;             /* ops of main_steps that are fused with each other */
    uint32_t n_epilogue_ops;          /* ops of main_steps that are fused into products */
    struct fused_state *fused_states; /* states of all fused steps; NULL: none */
    struct append *appends;           /* including refused ones; NULL: none */
    struct variable_use *uses;
    size_t n_uses, uses_capacity;
    uint32_t *results;    /* slot of each Result; NO_ID if a continuation computes it */
    size_t scratch_bytes; /* scratch memory at the start of the block, for any step */
    size_t block_bytes;

    unsigned char *block;   /* aligned to 64 bytes */
    size_t block_capacity;  /* size of the block, of which block_bytes are in use */
    bool has_room;          /* gets_room is set for a slot */
    uint32_t *moving_slots; /* slots in the memory of inputs, variables and outer slots */
    uint32_t n_moving_slots;
    struct moving_operand *moving_operands; /* operands of steps in moving slots */
    size_t n_moving_operands, moving_operands_capacity;

    struct plan *outer;      /* the plan that this one continues; or NULL */
    struct arena head_arena; /* used by infer of op `end`, which every iteration calls */
    struct plan_set continuations;
    /* The step of op `begin` of a continuation, in steps and in main_steps; NULL: none. */
    struct step *first_step, *main_first_step;
    uint32_t head_prepacked; /* inputs that this op prepacks */
};

/* Makes a plan and allocates its memory. `old` is an unused plan or NULL. If the steps of `old` fit
 * the new shapes, `old` is updated and returned; otherwise its memory is reused, or freed on
 * failure. Returns NULL with *err filled on failure. The caller holds the lock of the model. */
struct plan *plan_new(const struct plan_request *request, struct plan *old,
                      struct irrun_error *err);

/* Removes a plan other than in_use from a full set and returns it: the newest if is_newest,
 * otherwise the oldest. Returns NULL if the set is not full: it has fewer than PLAN_SET_MAX plans,
 * or PLAN_SET_GROWN if is_newest. in_use may be NULL. */
struct plan *plan_set_evict(struct plan_set *set, const struct plan *in_use, bool is_newest);
void plan_set_free(struct plan_set *set);

/* Returns the plan for the ops from plan->end on: an existing one if the shapes match, otherwise a
 * new one. All slots of `plan` must have data. The caller holds the lock of the model. */
struct plan *plan_continue(struct plan *plan, struct irrun_error *err);

/* Returns whether the shapes of all Results are known. */
static inline bool plan_is_complete(const struct plan *plan)
{
    return plan->end == plan->request.graph->n_order;
}

/* Returns the slot of an operand of a step or an op of the plan. A slot begins with its tensor. */
static inline const struct slot *slot_of(const struct irrun_tensor *tensor)
{
    return (const struct slot *)(const void *)tensor;
}

/* Returns the root of a slot, which has the same elements in the same memory. */
static inline uint32_t plan_root(const struct plan *plan, uint32_t slot_id)
{
    while (plan->slots[slot_id].root != slot_id)
        slot_id = plan->slots[slot_id].root;
    return slot_id;
}

/* Returns the root of the slot of an operand. */
static inline uint32_t plan_root_of(const struct plan *plan, const struct irrun_tensor *tensor)
{
    return plan_root(plan, (uint32_t)(slot_of(tensor) - plan->slots));
}

/* Returns the slot that owns the memory of this one, and the byte offset in it. */
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
