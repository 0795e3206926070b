/* Turns drafts into the steps of a plan: those of every iteration, and all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/drafts.h"

#define LINE_BYTES 64

static bool finish_step(struct plan *plan, const struct draft *draft, struct step *step,
                        struct irrun_error *err)
{
    struct irrun_tensor **tensors = arena_alloc_array(
        &plan->arena, (size_t)draft->n_inputs + draft->n_outputs, sizeof *tensors, err);
    if (!tensors)
        return false;
    for (uint32_t i = 0; i < draft->n_inputs; i++)
        tensors[i] = &plan->slots[draft->in[i]].tensor;
    for (uint32_t i = 0; i < draft->n_outputs; i++)
        tensors[draft->n_inputs + i] = &plan->slots[draft->out[i]].tensor;
    *step = (struct step){.flat = draft->made.flat,
                          .state = draft->state,
                          .in = tensors,
                          .out = tensors + draft->n_inputs,
                          .n_inputs = draft->n_inputs,
                          .n_outputs = draft->n_outputs,
                          .epilogue = draft->epilogue ? &draft->epilogue->epilogue : NULL,
                          .graph = plan->request.graph,
                          .op = draft->op,
                          .session = plan->request.session,
                          .pool = plan->request.pool};
    return true;
}

/* n steps, each with its first part in one cache line. */
static struct step *allocate_steps(struct plan *plan, size_t n, struct irrun_error *err)
{
    char *memory = arena_alloc_array(&plan->arena, n + 1, sizeof(struct step), err);
    return memory ? (struct step *)(void *)(memory + -(uintptr_t)memory % LINE_BYTES) : NULL;
}

bool drafts_finish(const struct drafts *drafts, struct irrun_error *err)
{
    struct plan *plan = drafts->plan;
    uint32_t n_main = 0;
    for (size_t i = 0; i < drafts->n; i++)
        n_main += drafts->items[i].is_main;
    plan->n_steps = (uint32_t)drafts->n;
    plan->steps = allocate_steps(plan, drafts->n, err);
    plan->main_steps = n_main == drafts->n ? plan->steps : allocate_steps(plan, n_main, err);
    if (!plan->steps || !plan->main_steps)
        return false;
    for (size_t i = 0; i < drafts->n; i++) {
        const struct draft *draft = &drafts->items[i];
        struct step *step = &plan->steps[i];
        if (!finish_step(plan, draft, step, err))
            return false;
        bool is_head = plan->outer && draft->state && draft->op == plan->planned[0].op;
        if (is_head)
            plan->head_steps[0] = step;
        if (!draft->is_main)
            continue;
        if (plan->main_steps != plan->steps)
            plan->main_steps[plan->n_main_steps] = *step;
        if (is_head)
            plan->head_steps[1] = &plan->main_steps[plan->n_main_steps];
        plan->n_main_steps++;
    }
    return true;
}
