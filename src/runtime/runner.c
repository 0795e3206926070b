/* Finds or makes the plan for the current shapes and runs its steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/runner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/finite_check.h"
#include "runtime/op_times.h"

/* ---- choosing a plan ---- */

static bool matches(const struct runner *runner, const struct plan *plan,
                    const struct irrun_tensor *const *in)
{
    const struct plan_request *request = &plan->request;
    for (uint32_t i = 0; i < runner->graph->n_parameters; i++)
        if (request->in[i]->dtype != in[i]->dtype ||
            !shape_equals(&request->in[i]->shape, &in[i]->shape))
            return false;
    const struct model *model = runner->session->model;
    const struct variable_state *states = runner->session->variables.states;
    for (uint32_t i = 0; i < model->n_variables; i++) {
        if (model->variables[i].dtype != IRRUN_DYNAMIC &&
            partial_shape_is_static(&model->variables[i].shape))
            continue;
        const struct variable_state *planned = &request->variables[i];
        if (planned->is_set != states[i].is_set)
            return false;
        if (planned->is_set &&
            (planned->dtype != states[i].dtype || !shape_equals(&planned->shape, &states[i].shape)))
            return false;
    }
    return true;
}

/* Returns the runner of a body. The first call makes it; it is kept when the first op of a
 * continuation is inferred again. */
struct runner *plan_body_runner(struct plan *plan, const struct graph *body,
                                const bool *is_constant, struct irrun_error *err)
{
    for (size_t i = 0; i < plan->n_runners; i++)
        if (plan->runners[i].graph == body)
            return plan->runners[i].runner;
    struct runner *runner = NULL;
    if (GROW_ARRAY(plan->runners, plan->n_runners, plan->runners_capacity, err))
        runner = runner_new(plan->request.session, body, true, is_constant, err);
    if (!runner)
        return NULL;
    plan->runners[plan->n_runners++] = (struct owned_runner){body, runner};
    return runner;
}

/* Returns whether a variable that the plan uses has grown. In this case, plans for shorter values
 * are not needed again, and the newest unused plan is replaced: its memory is still in the CPU
 * caches. */
static bool has_grown(const struct plan *plan, const struct variable_state *states)
{
    for (size_t i = 0; plan && i < plan->n_uses; i++) {
        uint32_t variable = plan->uses[i].variable;
        if (shape_n_elements(&states[variable].shape) >
            shape_n_elements(&plan->request.variables[variable].shape))
            return true;
    }
    return false;
}

static struct plan *make_plan(struct runner *runner, const struct irrun_tensor *const *in,
                              struct irrun_error *err)
{
    struct irrun_session *session = runner->session;
    struct plan_request request = {.model = session->model,
                                   .graph = runner->graph,
                                   .in = in,
                                   .is_constant = runner->is_constant,
                                   .variables = session->variables.states,
                                   .is_body = runner->is_body,
                                   .session = session,
                                   .times = session->model->times_steps ? &session->times : NULL,
                                   .pool = session->pool};
    pthread_mutex_lock(&session->model->lock);
    bool is_newest = has_grown(runner->plan, session->variables.states);
    struct plan *old = plan_set_evict(&runner->plans, runner->plan, is_newest);
    struct plan *plan = plan_new(&request, old, err);
    pthread_mutex_unlock(&session->model->lock);
    return plan;
}

static void set_outputs(struct runner *runner, struct plan *plan)
{
    for (uint32_t i = 0; i < runner->graph->n_results; i++)
        if (plan->results[i] != NO_ID)
            runner->outputs[i] = &plan->slots[plan->results[i]];
}

bool runner_choose_plan(struct runner *runner, const struct irrun_tensor *const *in,
                        struct irrun_error *err)
{
    if (runner->plan && matches(runner, runner->plan, in))
        return true;
    struct plan *chosen = NULL;
    for (uint32_t i = 0; i < runner->plans.n && !chosen; i++)
        if (matches(runner, runner->plans.items[i], in))
            chosen = runner->plans.items[i];
    if (!chosen) {
        chosen = make_plan(runner, in, err);
        if (!chosen)
            return false;
        runner->plans.items[runner->plans.n++] = chosen;
    }
    /* An existing plan needs this, too: appends in other plans may have swapped buffers. */
    if (!variables_reserve(&runner->session->variables, chosen->uses, chosen->n_uses, err))
        return false;
    runner->plan = chosen;
    set_outputs(runner, chosen);
    return true;
}

/* ---- running ---- */

/* Sets the addresses that can change. Sets those of outer plans, too, because a continuation may
 * have enlarged the buffers of variables. */
static void bind_moving_slots(const struct plan *plan, const struct irrun_tensor *const *in,
                              const struct variables *variables)
{
    if (plan->outer)
        bind_moving_slots(plan->outer, in, variables);
    for (uint32_t i = 0; i < plan->n_moving_slots; i++) {
        struct slot *slot = &plan->slots[plan->moving_slots[i]];
        if (slot->kind == SLOT_INPUT)
            slot->tensor.data = in[slot->index]->data;
        else if (slot->kind == SLOT_VARIABLE)
            slot->tensor.data = variables->items[slot->index].value.data;
        else
            slot->tensor.data = plan->outer->slots[slot->index].tensor.data;
        if (slot->offset > 0)
            slot->tensor.data = (char *)slot->tensor.data + slot->offset;
    }
    for (size_t i = 0; i < plan->n_moving_operands; i++)
        *plan->moving_operands[i].data = plan->moving_operands[i].tensor->data;
}

static bool run_steps(const struct step *steps, uint32_t n_steps, struct irrun_error *err)
{
    for (const struct step *step = steps, *end = steps + n_steps; step < end; step++)
        if (!step->flat.run(step, err))
            return false;
    return true;
}

static struct plan *continue_plan(struct runner *runner, struct plan *plan, struct irrun_error *err)
{
    struct irrun_session *session = runner->session;
    uint64_t start = session->model->times_steps ? clock_now_ns() : 0;
    pthread_mutex_lock(&session->model->lock);
    struct plan *next = plan_continue(plan, err);
    pthread_mutex_unlock(&session->model->lock);
    if (!next || !variables_reserve(&session->variables, next->uses, next->n_uses, err))
        return NULL;
    set_outputs(runner, next);
    if (session->model->times_steps)
        op_times_add_infer(next, clock_now_ns() - start);
    return next;
}

bool runner_execute(struct runner *runner, const struct irrun_tensor *const *in,
                    struct irrun_error *err)
{
    struct variables *variables = &runner->session->variables;
    const struct model *model = runner->session->model;
    bool checks_nan = model->stops_at_nan;
    for (struct plan *plan = runner->plan;;) {
        if (variables->has_strided)
            variables_pack(variables, plan->uses, plan->n_uses);
        bind_moving_slots(plan, in, variables);
        bool is_first = variables->n_unset > 0;
        const struct step *steps = is_first ? plan->steps : plan->main_steps;
        uint32_t n_steps = is_first ? plan->n_steps : plan->n_main_steps;
        if (!(checks_nan           ? finite_run(runner, plan, steps, n_steps, err)
              : model->times_steps ? op_times_run(steps, n_steps, err)
                                   : run_steps(steps, n_steps, err)))
            return false;
        if (checks_nan && !runner->is_body && !finite_check_results(plan, err))
            return false;
        if (plan_is_complete(plan))
            return true;
        const struct op *head = &runner->graph->ops[runner->graph->order[plan->end]];
        struct plan *next = continue_plan(runner, plan, err);
        if (!next)
            return checks_nan && finite_blame(runner, plan, head, err);
        plan = next;
    }
}

/* ---- bodies ---- */

bool runner_infer(struct runner *runner, const struct irrun_tensor *const *in,
                  struct irrun_tensor *out, bool *is_known, struct irrun_error *err)
{
    if (!runner_choose_plan(runner, in, err))
        return false;
    *is_known = plan_is_complete(runner->plan);
    for (uint32_t i = 0; *is_known && i < runner->graph->n_results; i++) {
        const struct slot *slot = &runner->plan->slots[runner->plan->results[i]];
        out[i] = (struct irrun_tensor){slot->declared, slot->tensor.shape, NULL};
    }
    return true;
}

bool runner_run(struct runner *runner, const struct irrun_tensor *const *in,
                struct irrun_error *err)
{
    if (!runner_choose_plan(runner, in, err) || !runner_execute(runner, in, err))
        return false;
    if (runner->graph->analysis->has_variables)
        variables_advance(&runner->session->variables);
    return true;
}

const struct irrun_tensor *runner_output(const struct runner *runner, uint32_t i)
{
    return runner->outputs[i] ? &runner->outputs[i]->tensor : NULL;
}

enum irrun_dtype runner_output_dtype(const struct runner *runner, uint32_t i)
{
    return runner->outputs[i]->declared;
}

struct runner *runner_new(struct irrun_session *session, const struct graph *graph, bool is_body,
                          const bool *is_constant, struct irrun_error *err)
{
    struct runner *runner = new_array(1, sizeof *runner, err);
    if (!runner)
        return NULL;
    runner->session = session;
    runner->graph = graph;
    runner->is_body = is_body;
    runner->is_constant = new_array(graph->n_parameters, sizeof *runner->is_constant, err);
    runner->outputs = new_array(graph->n_results, sizeof *runner->outputs, err);
    if (!runner->is_constant || !runner->outputs) {
        runner_free(runner);
        return NULL;
    }
    if (is_constant)
        memcpy(runner->is_constant, is_constant, graph->n_parameters * sizeof *runner->is_constant);
    return runner;
}

void runner_free(struct runner *runner)
{
    if (!runner)
        return;
    plan_set_free(&runner->plans);
    free(runner->is_constant);
    free(runner->outputs);
    free(runner);
}
