/* Implements the session functions of irrun.h. An iteration with unchanged shapes only runs steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/session.h"

#include <stdlib.h>

#include "base/clock.h"
#include "ops/compressed_ops.h"
#include "ops/indexing.h"

struct irrun_session *session_new(struct model *model, const struct ports *inputs,
                                  struct irrun_error *err)
{
    struct irrun_session *session = new_array(1, sizeof *session, err);
    if (!session)
        return NULL;
    session->model = model;
    session->ports = inputs;
    size_t n = model->graph->n_parameters;
    session->inputs = new_array(n, sizeof *session->inputs, err);
    session->input_pointers = new_array(n, sizeof *session->input_pointers, err);
    session->has_input = new_array(n, sizeof *session->has_input, err);
    session->n_missing = model->graph->n_parameters;
    bool is_done = session->inputs && session->input_pointers && session->has_input;
    for (size_t i = 0; is_done && i < n; i++)
        session->input_pointers[i] = &session->inputs[i];
    if (is_done && model->n_threads > 1) {
        session->pool = thread_pool_new(model->n_threads, err);
        is_done = session->pool != NULL;
    }
    if (is_done && variables_new(&session->variables, model, err))
        session->root = runner_new(session, model->graph, false, NULL, err);
    if (!session->root) {
        irrun_session_free(session);
        return NULL;
    }
    return session;
}

void irrun_session_free(struct irrun_session *session)
{
    if (!session)
        return;
    runner_free(session->root);
    thread_pool_free(session->pool);
    variables_free(&session->variables);
    step_times_free(&session->times);
    free(session->inputs);
    free(session->input_pointers);
    free(session->has_input);
    free(session);
}

bool irrun_session_set_input(struct irrun_session *session, size_t index,
                             const struct irrun_tensor *tensor, struct irrun_error *err)
{
    const struct irrun_port *port = &session->ports->items[index];
    struct irrun_tensor *input = &session->inputs[index];
    error_clear(err);
    if (session->has_input[index] && input->dtype == tensor->dtype &&
        shape_equals(&input->shape, &tensor->shape)) {
        input->data = tensor->data;
        return true;
    }
    if (tensor->dtype != port->dtype || !partial_shape_admits(&port->shape, &tensor->shape)) {
        char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
        struct place place = {session->model->graph->file, port->line, port->column};
        return fail_at(err, IRRUN_DATA, place, "input \"%s\" is %s %s, but is given %s %s",
                       port->name, irrun_dtype_name(port->dtype),
                       partial_shape_format(&port->shape, wanted), irrun_dtype_name(tensor->dtype),
                       shape_format(&tensor->shape, found));
    }
    *input = *tensor;
    session->n_missing -= !session->has_input[index];
    session->has_input[index] = true;
    session->is_input_changed = true;
    return true;
}

/* Sets the type and shape of an input that has no value to those that the model declares. Fails if
 * the declared shape is not static. */
static bool fill_shape(struct irrun_session *session, size_t index, struct irrun_error *err)
{
    const struct irrun_port *port = &session->ports->items[index];
    struct irrun_tensor *input = &session->inputs[index];
    input->dtype = port->dtype;
    if (partial_shape_to_shape(&port->shape, &input->shape))
        return true;
    char text[SHAPE_TEXT_BYTES];
    struct place place = {session->model->graph->file, port->line, port->column};
    fail_at(err, IRRUN_USAGE, place, "the shape of input \"%s\", %s, is not known", port->name,
            partial_shape_format(&port->shape, text));
    return fail_hint(err, "set it with input data, or with --shape");
}

static bool choose_plan(struct irrun_session *session, struct irrun_error *err)
{
    static const struct irrun_op_name name = {.name = "plan"};
    if (!session->watch)
        return runner_choose_plan(session->root, session->input_pointers, err);
    const struct plan *before = session->root->plan;
    uint64_t start_ns = clock_now_ns();
    bool is_planned = runner_choose_plan(session->root, session->input_pointers, err);
    if (session->root->plan != before)
        session->watch(session->watch_context, 0, &name, start_ns, clock_now_ns());
    return is_planned;
}

bool irrun_session_plan(struct irrun_session *session, struct irrun_error *err)
{
    error_clear(err);
    for (size_t i = 0; i < session->ports->n; i++)
        if (!session->has_input[i] && !fill_shape(session, i, err))
            return false;
    if (!choose_plan(session, err))
        return false;
    session->is_input_changed = false;
    session->variables.is_shape_changed = false;
    return true;
}

static bool fail_missing(const struct irrun_session *session, struct irrun_error *err)
{
    const struct ports *inputs = session->ports;
    fail(err, IRRUN_USAGE, "%zu of %zu inputs %s no value:", session->n_missing, inputs->n,
         session->n_missing == 1 ? "has" : "have");
    for (size_t i = 0; i < inputs->n; i++)
        if (!session->has_input[i])
            fail_append(err, "\n  @%zu %s", i, inputs->items[i].name);
    return false;
}

/* Chooses a plan for changed shapes, and counts it. */
static bool replan(struct irrun_session *session, struct irrun_error *err)
{
    const struct plan *before = session->root->plan;
    uint64_t start_ns = clock_now_ns();
    bool is_planned = irrun_session_plan(session, err);
    session->times.plan_ns += clock_now_ns() - start_ns;
    session->times.n_plans += session->root->plan != before;
    return is_planned;
}

bool irrun_session_run(struct irrun_session *session, struct irrun_error *err)
{
    err->code = IRRUN_OK;
    if (session->n_missing > 0)
        return fail_missing(session, err);
    struct variables *variables = &session->variables;
    bool has_plan =
        session->root->plan && !session->is_input_changed && !variables->is_shape_changed;
    if (!has_plan && !replan(session, err))
        return false;
    if (!runner_execute(session->root, session->input_pointers, err)) {
        variables_roll_back(variables);
        return false;
    }
    variables_commit(variables);
    return true;
}

const struct irrun_tensor *irrun_session_input(const struct irrun_session *session, size_t index)
{
    return &session->inputs[index];
}

const struct irrun_tensor *irrun_session_output(const struct irrun_session *session, size_t index)
{
    return runner_output(session->root, (uint32_t)index);
}

const struct irrun_tensor *irrun_session_variable(const struct irrun_session *session, size_t index)
{
    struct variable *variable = &session->variables.items[index];
    if (variable->is_set)
        variable_pack(variable);
    return variable->is_set ? &variable->value : NULL;
}

bool irrun_session_set_variable(struct irrun_session *session, size_t index,
                                const struct irrun_tensor *tensor, struct irrun_error *err)
{
    error_clear(err);
    const struct variable_decl *decl = &session->model->variables[index];
    bool fits_type = decl->dtype == IRRUN_DYNAMIC || decl->dtype == tensor->dtype;
    if (!fits_type || !partial_shape_admits(&decl->shape, &tensor->shape)) {
        char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
        return fail_at(err, IRRUN_DATA, op_place(decl->graph, decl->read),
                       "variable \"%s\" is %s %s, but is given %s %s", decl->id,
                       irrun_dtype_name(decl->dtype), partial_shape_format(&decl->shape, wanted),
                       irrun_dtype_name(tensor->dtype), shape_format(&tensor->shape, found));
    }
    return variable_set(&session->variables, (uint32_t)index, tensor, err);
}

void irrun_session_reset(struct irrun_session *session)
{
    variables_reset(&session->variables);
}

void irrun_session_on_warning(struct irrun_session *session, irrun_warning_fn *fn, void *context)
{
    session->warning = fn;
    session->warning_context = context;
}

bool step_can_warn(const struct step *step)
{
    return step->session && step->session->warning;
}

void step_warn(const struct step *step, const struct irrun_error *warning)
{
    irrun_warning_fn *fn = step->session->warning;
    step->session->warning = NULL;
    fn(step->session->warning_context, warning);
}

/* ---- Information ----------------------------------------------------------------------------- */

/* Returns the size of the memory for values and scratch data, including the memory of bodies. */
static size_t count_bytes(const struct plan_set *plans)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < plans->n; i++) {
        const struct plan *plan = plans->items[i];
        sum += plan->block_capacity + count_bytes(&plan->continuations);
        for (size_t k = 0; k < plan->n_runners; k++)
            sum += count_bytes(&plan->runners[k].runner->plans);
    }
    return sum;
}

void irrun_session_describe(const struct irrun_session *session, struct irrun_session_info *info)
{
    const struct model *model = session->model;
    const struct plan *plan = session->root->plan;
    static const char *const precisions[] = {"f32", "f16", "bf16"};
    *info = (struct irrun_session_info){
        .gemm = kernels_gemm_name(&model->kernels),
        .simd = simd_name(model->kernels.simd),
        .precision = precisions[model->kernels.precision],
        .n_threads = model->n_threads,
        .n_steps = plan ? plan->n_main_steps : 0,
        .n_view_ops = plan ? plan->n_view_ops : 0,
        .n_fused_ops = plan ? plan->n_fused_ops : 0,
        .n_epilogue_ops = plan ? plan->n_epilogue_ops : 0,
        .n_new_plans = session->times.n_plans,
        .weights_mapped_bytes = model->graph->weights->size_bytes,
        .weights_packed_bytes = model->packed_bytes,
        .arena_bytes = count_bytes(&session->root->plans),
    };
    for (uint32_t i = 0; i < model->graph->n_order; i++)
        info->n_quantized_products +=
            model->graph->ops[model->graph->order[i]].def == &op_quantized_matmul;
    for (uint32_t i = 0; i < session->variables.n; i++)
        for (int b = 0; b < 3; b++)
            info->state_bytes += session->variables.items[i].capacity[b];
}
