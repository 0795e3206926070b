/* Makes the steps of a plan from pending steps: all steps, and main_steps, which run in every
 * iteration.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/cost.h"
#include "plan/step_builder.h"

/* Adds to *flops the estimated operations of an op. Uses the shapes of its operands in the
 * graph. */
static bool count_flops(struct plan *plan, const struct op *op, double *flops,
                        struct irrun_error *err)
{
    arena_reset(&plan->temporary);
    struct irrun_tensor **tensors = arena_alloc_array(
        &plan->temporary, (size_t)op->n_inputs + op->n_outputs, sizeof *tensors, err);
    if (!tensors)
        return false;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        tensors[i] = &plan_input(plan, op, i)->tensor;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        tensors[op->n_inputs + k] = &plan->slots[op->first_output + k].tensor;
    *flops += op_flops(op, tensors, tensors + op->n_inputs);
    return true;
}

/* Counts the bytes that a step reads and writes. An append moves only the new elements. */
static double count_bytes(const struct step *step)
{
    if (step->flat.run != run_append)
        return op_bytes(step->op, step->in, step->n_inputs, step->out, step->n_outputs);
    const struct append *append = step->state;
    return 2 * (double)append->n_rows * (double)append->added_bytes;
}

bool plan_count_work(struct plan *plan, const struct step *step, struct step_cost *cost,
                     struct irrun_error *err)
{
    const struct step_times *times = cost->times;
    cost->bytes = count_bytes(step);
    cost->flops = 0;
    for (uint32_t i = 0; i < times->n_members && !times->is_conversion; i++)
        if (!count_flops(plan, times->members[i], &cost->flops, err))
            return false;
    return true;
}

/* Computes the work of a step, and finds its entry in the table of times. */
static struct step_cost *find_cost(struct plan *plan, const struct pending_step *pending,
                                   const struct step *step, struct irrun_error *err)
{
    const struct step_times key = {.graph = plan->request.graph,
                                   .members = pending->members ? pending->members : &pending->op,
                                   .n_members = pending->members ? pending->n_members : 1,
                                   .is_conversion = !pending->state};
    struct step_cost *cost = arena_alloc(&plan->arena, sizeof *cost, err);
    if (!cost)
        return NULL;
    cost->times = step_times_find(plan->request.times, &key, err);
    return cost->times && plan_count_work(plan, step, cost, err) ? cost : NULL;
}

static bool emit_step(struct plan *plan, const struct pending_step *pending, struct step *step,
                      struct step_source *source, struct irrun_error *err)
{
    struct irrun_tensor **tensors = arena_alloc_array(
        &plan->arena, (size_t)pending->n_inputs + pending->n_outputs, sizeof *tensors, err);
    if (!tensors)
        return false;
    for (uint32_t i = 0; i < pending->n_inputs; i++)
        tensors[i] = &plan->slots[pending->in[i]].tensor;
    for (uint32_t i = 0; i < pending->n_outputs; i++)
        tensors[pending->n_inputs + i] = &plan->slots[pending->out[i]].tensor;
    bool has_epilogue = pending->source.fused && pending->source.planned;
    *source = pending->source;
    *step = (struct step){.flat = pending->made.flat,
                          .state = pending->state,
                          .in = tensors,
                          .out = tensors + pending->n_inputs,
                          .n_inputs = pending->n_inputs,
                          .n_outputs = pending->n_outputs,
                          .epilogue = has_epilogue ? &source->fused->epilogue : NULL,
                          .graph = plan->request.graph,
                          .op = pending->op,
                          .session = plan->request.session,
                          .pool = plan->request.pool};
    if (plan->request.times)
        step->cost = source->cost = find_cost(plan, pending, step, err);
    return step->cost || !plan->request.times;
}

bool step_builder_emit(const struct step_builder *builder, struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    uint32_t n_main = 0;
    for (size_t i = 0; i < builder->n; i++)
        n_main += builder->steps[i].is_main;
    plan->n_steps = (uint32_t)builder->n;
    plan->steps = arena_alloc_array(&plan->arena, builder->n, sizeof(struct step), err);
    plan->sources = arena_alloc_array(&plan->arena, builder->n, sizeof(struct step_source), err);
    plan->main_steps = n_main == builder->n
                           ? plan->steps
                           : arena_alloc_array(&plan->arena, n_main, sizeof(struct step), err);
    if (!plan->steps || !plan->sources || !plan->main_steps)
        return false;
    for (size_t i = 0; i < builder->n; i++) {
        const struct pending_step *pending = &builder->steps[i];
        struct step *step = &plan->steps[i];
        if (!emit_step(plan, pending, step, &plan->sources[i], err))
            return false;
        bool is_head = plan->outer && pending->state && pending->op == plan->planned[0].op;
        if (is_head)
            plan->first_step = step;
        if (!pending->is_main)
            continue;
        if (plan->main_steps != plan->steps) {
            plan->main_steps[plan->n_main_steps] = *step;
            plan->sources[i].main = &plan->main_steps[plan->n_main_steps];
        }
        if (is_head)
            plan->main_first_step = &plan->main_steps[plan->n_main_steps];
        plan->n_main_steps++;
    }
    return true;
}
