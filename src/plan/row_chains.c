/* Joins convolutions with the channels last into chains, which are computed row by row
 * (kernels/row_chain.h), if the images between them are large.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/row_chain.h"
#include "plan/fused_program.h"

/* Smaller images stay in an L2 cache. */
#define MIN_IMAGE_FLOATS 65536

static bool run_chain(const struct step *step, struct irrun_error *err)
{
    (void)err;
    row_chain_run(step->state, step->in[0]->data, step->out[0]->data, step->scratch, step->pool);
    return true;
}

/* Returns whether the epilogue of a step, apart from a bias, reads and writes only the sums, so
 * that it can run in a line buffer. */
static bool has_local_epilogue(const struct pending_step *step)
{
    const struct epilogue *epilogue = step->source.fused ? &step->source.fused->epilogue : NULL;
    return !epilogue || !epilogue->fused || epilogue->is_map;
}

/* Returns whether `next` is the only reader of the output of `step`, and the output is large. The
 * sizes of rows are compared because window_align may divide an image of one column into different
 * rows. */
static bool follows(const struct fused_program *fused, const struct pending_step *step,
                    const struct pending_step *next)
{
    const struct plan *plan = fused->plan;
    uint32_t output = plan_root(plan, step->out[0]);
    const struct slot *slot = &plan->slots[output];
    return next->made.rows && next->made.rows->reads_rows && step->n_outputs == 1 &&
           next->made.rows->in_row_floats == step->made.rows->row_floats &&
           has_local_epilogue(step) && step->is_main == next->is_main &&
           plan_root(plan, next->in[0]) == output && fused->uses[output].n_uses == 1 &&
           slot->last_step != NO_ID && slot->kind == SLOT_BLOCK && slot->parent == NO_ID &&
           (size_t)shape_n_elements(&slot->tensor.shape) >=
               MIN_IMAGE_FLOATS * step->made.rows->n_batches;
}

/* Adds a step to a chain. Returns false and leaves the chain as it is if the longer chain cannot be
 * computed by rows. */
static bool add_step(struct row_chain *chain, const struct pending_step *step)
{
    struct row_chain longer = *chain;
    if (chain->n == ROW_CHAIN_MAX)
        return false;
    longer.ops[longer.n] = step->made.rows;
    longer.epilogues[longer.n++] = step->source.fused ? &step->source.fused->epilogue : NULL;
    if (longer.n > 1 && !row_chain_plan(&longer))
        return false;
    *chain = longer;
    return true;
}

/* Returns how many of the n steps, from the first on, can be one chain. */
static size_t find_chain(const struct fused_program *fused, const struct pending_step *steps,
                         size_t n, struct row_chain *chain)
{
    size_t i = 0;
    *chain = (struct row_chain){0};
    while (i < n && steps[i].made.rows && (i == 0 || follows(fused, &steps[i - 1], &steps[i])) &&
           add_step(chain, &steps[i]))
        i++;
    return i;
}

/* Joins the n steps of a chain into one step. Its inputs are the image that the first step reads,
 * and all inputs of all steps that are not images. The images between the steps get no memory. */
static bool join_steps(struct fused_program *fused, const struct pending_step *steps, size_t n,
                       const struct row_chain *chain, struct pending_step *joined)
{
    struct plan *plan = fused->plan;
    struct arena *arena = &plan->arena;
    const struct pending_step *last = &steps[n - 1];
    size_t n_in = 0, n_members = 0;
    for (size_t i = 0; i < n; i++) {
        n_in += steps[i].n_inputs;
        n_members += steps[i].members ? steps[i].n_members : 1;
    }
    uint32_t *in = arena_alloc_array(arena, n_in, sizeof *in, fused->err);
    const struct op **members = arena_alloc_array(arena, n_members, sizeof *members, fused->err);
    const struct row_chain *state = arena_copy(arena, chain, 1, sizeof *chain, fused->err);
    if (!in || !members || !state)
        return false;
    *joined = (struct pending_step){.made.flat.run = run_chain,
                                    .op = last->op,
                                    .members = members,
                                    .n_members = (uint32_t)n_members,
                                    .state = state,
                                    .source.is_chain = true,
                                    .in = in,
                                    .out = last->out,
                                    .n_outputs = last->n_outputs,
                                    .is_main = last->is_main};
    for (size_t i = 0; i < n; i++) {
        const struct pending_step *step = &steps[i];
        size_t n_ops = step->members ? step->n_members : 1;
        memcpy(members, step->members ? step->members : &step->op, n_ops * sizeof *members);
        members += n_ops;
        memcpy(in, step->in + (i > 0), (step->n_inputs - (i > 0)) * sizeof *in);
        in += step->n_inputs - (i > 0);
        if (i + 1 < n)
            plan->slots[plan_root(plan, step->out[0])].kind = SLOT_NONE;
    }
    joined->n_inputs = (uint32_t)(in - joined->in);
    return true;
}

static bool reserve_scratch(struct step_builder *builder, const struct row_chain *chain,
                            struct irrun_error *err)
{
    unsigned n_threads = thread_pool_n_threads(builder->plan->request.pool);
    size_t n_bytes;
    if (!row_chain_memory(chain, n_threads, &n_bytes))
        return fail_memory(err, SIZE_MAX);
    if (builder->scratch_bytes < n_bytes)
        builder->scratch_bytes = n_bytes;
    return true;
}

bool step_builder_chain(struct fused_program *fused, struct step_builder *builder)
{
    size_t n = 0;
    for (size_t i = 0, length; i < builder->n; i += length) {
        struct row_chain chain;
        struct pending_step joined = builder->steps[i];
        length = find_chain(fused, &builder->steps[i], builder->n - i, &chain);
        if (length > 1 && (!join_steps(fused, &builder->steps[i], length, &chain, &joined) ||
                           !reserve_scratch(builder, &chain, fused->err)))
            return false;
        length = length > 1 ? length : 1;
        builder->steps[n++] = joined;
    }
    builder->n = n;
    return true;
}
