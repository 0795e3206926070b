/* Types and functions shared by the files that make a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PLAN_INTERNAL_H
#define IRRUN_PLAN_PLAN_INTERNAL_H

#include "plan/plan.h"

/* An op of the plan after inference, and the result of prepare for its step. */
struct planned_op {
    const struct op *op;
    void *state;
    bool is_view;
    bool is_varying;          /* an update of the plan infers and prepares it again */
    struct append *append;    /* NULL: none */
    uint32_t *in, *out;       /* slots of the operands of prepare; NULL: no step */
    uint32_t prepacked;       /* inputs that it prepacks */
    uint32_t original_inputs; /* see plan_original_inputs; both are sets of 1 << i */
    uint32_t use;             /* index in plan->uses of the variable that the op uses */
    struct prepared made;
};

/* What a step was made from. */
struct step_source {
    struct planned_op *planned;       /* NULL: fused element-wise ops, or a conversion */
    struct fused_state *fused;        /* state of fused ops or of an epilogue; NULL: none */
    struct step *main;                /* its copy in main_steps, or NULL */
    struct step_cost *cost;           /* NULL: steps are not timed */
    const struct planned_op *pooling; /* the pooling op that the convolution computes; NULL: none */
    bool is_chain;                    /* its state is a struct row_chain */
};

static inline struct slot *plan_input(const struct plan *plan, const struct op *op, uint32_t i)
{
    return &plan->slots[op_input(plan->request.graph, op, i)];
}

/* Returns the index of a Parameter or Result, or of the variable of a ReadValue or Assign. */
static inline uint32_t plan_index(const struct plan *plan, const struct op *op)
{
    const struct graph *graph = plan->request.graph;
    return graph->analysis->index_of[op - graph->ops];
}

/* plan_reads_original returns whether an op reads the original of input i and repeats its runs
 * itself. plan_operand returns the slot that the op reads: input i, or its original. */
bool plan_reads_original(const struct plan *plan, const struct op *op, uint32_t i);
uint32_t plan_operand(const struct plan *plan, const struct op *op, uint32_t i);
/* Returns the set of inputs for which plan_reads_original is true. */
uint32_t plan_original_inputs(const struct plan *plan, const struct op *op);

/* Finds repeated values that are not computed because all ops read their originals, and the Concats
 * that append to a variable (append.c). */
bool plan_find_appends(struct plan *plan, struct irrun_error *err);

/* Sets the sizes of an append from the shapes of its operands. Returns false if its result is
 * empty. */
bool plan_size_append(struct plan *plan, struct append *append);

/* Sets the original and the runs of the output of an op that only repeats or reshapes its input.
 * The original is that of the input, or the input itself if it has none. Returns false for other
 * ops. */
bool plan_propagate_original(struct plan *plan, const struct planned_op *planned);

/* Returns whether an op reads and writes its 16-bit operands as f32. The slots of its inputs must
 * be set. */
bool plan_widens(const struct plan *plan, const struct op *op);

/* Infers and folds the ops from plan->begin on; sets plan->end. In a continuation, the op that the
 * outer plan waited for is inferred already: `head` holds its state and its outputs. */
struct head {
    void *state;
    struct irrun_tensor *out;
};
bool plan_infer(struct plan *plan, const struct head *head, struct irrun_error *err);

/* Infers one op. has_data: its inputs are computed already, and infer may read them. *views becomes
 * NULL, or, if the outputs are views of input 0, the index of the first element of each output.
 * Returns false on failure, and, with *is_waiting set, if infer needs data that is not computed
 * yet. */
bool plan_infer_op(struct plan *plan, const struct op *op, void *state, struct irrun_tensor *out,
                   bool has_data, struct arena *arena, int64_t **views, bool *is_waiting,
                   struct irrun_error *err);

/* Returns whether all outputs are constants of the model, whose slots are set already. */
bool plan_is_constant(const struct plan *plan, const struct op *op);

/* Finds the type and shape of the value that a ReadValue reads. */
bool plan_read_value(struct plan *plan, const struct op *op, struct irrun_tensor *tensor,
                     struct irrun_error *err);

/* plan_is_foldable returns whether an op depends only on shapes and constants; plan_fold computes
 * its outputs, whose types and shapes are inferred, and sets their types to those in memory. */
bool plan_is_foldable(const struct plan *plan, const struct op *op);
bool plan_fold(struct plan *plan, const struct op *op, void *state, struct irrun_tensor *out,
               struct irrun_error *err);

/* Makes the steps of all ops that are needed. */
bool plan_make_steps(struct plan *plan, struct irrun_error *err);

/* Finds the inputs that prepare will prepack, as a set of 1 << i. The slots `in` may have no data
 * yet. */
bool plan_prepacked_inputs(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                           uint32_t *prepacked, struct irrun_error *err);

/* Returns the number of outputs of the op's step, without trailing optional outputs that no step
 * reads. */
uint32_t plan_count_outputs(const struct plan *plan, const struct op *op);

/* Calls prepare of an op with operands in the slots `in` and `out`; fills *made. `prepacked` is the
 * result of plan_prepacked_inputs before any input was widened. */
bool plan_prepare_op(struct plan *plan, const struct op *op, void *state, const uint32_t *in,
                     const uint32_t *out, uint32_t prepacked, struct prepared *made,
                     struct irrun_error *err);

/* Computes the work of a step from the current shapes. */
bool plan_count_work(struct plan *plan, const struct step *step, struct step_cost *cost,
                     struct irrun_error *err);

/* Sets how many bytes of a variable the step of an op uses, from the current shapes. */
bool plan_size_use(struct plan *plan, struct planned_op *planned);

/* Updates a group of fused ops for the current shapes of its members, which are prepared. *made is
 * the result of prepare for their product, or for the step of a group without a product. Returns
 * false if the group needs a different program. */
bool plan_update_fused(struct plan *plan, struct fused_state *state, struct prepared *made,
                       struct irrun_error *err);

/* Copies a request to the plan. */
bool plan_copy_request(struct plan *plan, const struct plan_request *request,
                       struct irrun_error *err);

/* Updates a plan for a request with other shapes but the same steps. Returns false if this is not
 * possible. The plan cannot be used then, but its memory can. */
bool plan_update(struct plan *plan, const struct plan_request *request);

/* Sets the addresses of all slots and operands, and lists those that can change. */
bool plan_bind(struct plan *plan, struct irrun_error *err);
/* Sets the addresses of the operands of a step that are constants of the plan. */
void plan_bind_constants(struct plan *plan, struct step *step, struct fused_state *fused);

/* Returns whether each input of a Concat is one contiguous piece of its output. */
bool plan_concat_is_contiguous(const struct step *step);

/* Sets the offset of every root slot of kind SLOT_BLOCK, after `scratch_bytes`; sets
 * block_bytes. */
bool plan_place_slots(struct plan *plan, size_t scratch_bytes, struct irrun_error *err);

#endif
