/* Turns pending steps into the steps of a plan: main_steps, for every iteration, and all steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/step_builder.h"

#define LINE_BYTES 64

static bool emit_step(struct plan *plan, const struct pending_step *pending, struct step *step,
                      struct irrun_error *err)
{
    struct irrun_tensor **tensors = arena_alloc_array(
        &plan->arena, (size_t)pending->n_inputs + pending->n_outputs, sizeof *tensors, err);
    if (!tensors)
        return false;
    for (uint32_t i = 0; i < pending->n_inputs; i++)
        tensors[i] = &plan->slots[pending->in[i]].tensor;
    for (uint32_t i = 0; i < pending->n_outputs; i++)
        tensors[pending->n_inputs + i] = &plan->slots[pending->out[i]].tensor;
    *step = (struct step){.flat = pending->made.flat,
                          .state = pending->state,
                          .in = tensors,
                          .out = tensors + pending->n_inputs,
                          .n_inputs = pending->n_inputs,
                          .n_outputs = pending->n_outputs,
                          .epilogue = pending->epilogue ? &pending->epilogue->epilogue : NULL,
                          .graph = plan->request.graph,
                          .op = pending->op,
                          .session = plan->request.session,
                          .pool = plan->request.pool};
    return true;
}

/* Allocates n steps, aligned so that the first part of each is in one cache line. */
static struct step *allocate_steps(struct plan *plan, size_t n, struct irrun_error *err)
{
    char *memory = arena_alloc_array(&plan->arena, n + 1, sizeof(struct step), err);
    return memory ? (struct step *)(void *)(memory + -(uintptr_t)memory % LINE_BYTES) : NULL;
}

bool step_builder_emit(const struct step_builder *builder, struct irrun_error *err)
{
    struct plan *plan = builder->plan;
    uint32_t n_main = 0;
    for (size_t i = 0; i < builder->n; i++)
        n_main += builder->steps[i].is_main;
    plan->n_steps = (uint32_t)builder->n;
    plan->steps = allocate_steps(plan, builder->n, err);
    plan->main_steps = n_main == builder->n ? plan->steps : allocate_steps(plan, n_main, err);
    if (!plan->steps || !plan->main_steps)
        return false;
    for (size_t i = 0; i < builder->n; i++) {
        const struct pending_step *pending = &builder->steps[i];
        struct step *step = &plan->steps[i];
        if (!emit_step(plan, pending, step, err))
            return false;
        bool is_head = plan->outer && pending->state && pending->op == plan->planned[0].op;
        if (is_head)
            plan->head_steps[0] = step;
        if (!pending->is_main)
            continue;
        if (plan->main_steps != plan->steps)
            plan->main_steps[plan->n_main_steps] = *step;
        if (is_head)
            plan->head_steps[1] = &plan->main_steps[plan->n_main_steps];
        plan->n_main_steps++;
    }
    return true;
}
