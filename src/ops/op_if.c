/* If-8: runs one of two bodies. If the outputs of both have the same types and shapes, run selects
 * the body. Otherwise infer needs the condition, and plans only the selected body.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/body.h"

enum { THEN_BODY, ELSE_BODY };

struct if_branch {
    const struct body *body;
    struct runner *runner;
    struct irrun_tensor *in; /* [n_parameters] */
    const struct irrun_tensor **in_pointers;
    uint32_t *input_of;  /* for each Parameter: index of the op's input */
    uint32_t *result_of; /* for each output of the op: index of the body's Result */
};

struct if_state {
    struct if_branch branches[2];
    int selected;      /* the branch that infer selected, or -1 if run selects it */
    bool ran_in_infer; /* infer has run the branch; the outputs are in `kept` */
    struct irrun_tensor *kept;
};

static bool bind_inputs(struct infer *infer, struct if_branch *branch)
{
    const struct graph *graph = branch->body->graph;
    for (uint32_t k = 0; k < graph->n_parameters; k++)
        branch->input_of[k] = NO_ID;
    for (uint32_t i = 0; i < branch->body->n_inputs; i++) {
        const struct port_map *map = &branch->body->inputs[i];
        uint32_t k = body_ordinal(graph, map->internal_id, ROLE_PARAMETER);
        if (k == NO_ID || map->external < 0 || (uint64_t)map->external >= infer->n_inputs)
            return infer_fail(infer, "a port_map (line %u) connects no input to a Parameter",
                              map->line);
        branch->input_of[k] = (uint32_t)map->external;
    }
    for (uint32_t k = 0; k < graph->n_parameters; k++) {
        const struct op *parameter = &graph->ops[graph->parameters[k]];
        if (branch->input_of[k] == NO_ID)
            return infer_fail(infer,
                              "Parameter \"%s\" of its body (line %u) is not connected to an input",
                              parameter->name, parameter->line);
    }
    return true;
}

static bool bind_outputs(struct infer *infer, struct if_branch *branch)
{
    const struct graph *graph = branch->body->graph;
    for (uint32_t k = 0; k < infer->n_outputs; k++)
        branch->result_of[k] = NO_ID;
    for (uint32_t i = 0; i < branch->body->n_outputs; i++) {
        const struct port_map *map = &branch->body->outputs[i];
        uint32_t result = body_ordinal(graph, map->internal_id, ROLE_RESULT);
        if (result == NO_ID || map->external < 0 || (uint64_t)map->external >= infer->n_outputs)
            return infer_fail(infer, "a port_map (line %u) connects no output to a Result",
                              map->line);
        branch->result_of[map->external] = result;
    }
    for (uint32_t k = 0; k < infer->n_outputs; k++)
        if (branch->result_of[k] == NO_ID)
            return infer_fail(infer, "output %u is not connected to a Result of the body", k);
    return true;
}

static bool bind_branch(struct infer *infer, struct if_branch *branch, const struct body *body)
{
    const struct graph *graph = body->graph;
    struct arena *arena = infer->arena;
    uint32_t n = graph->n_parameters;
    branch->body = body;
    branch->in = arena_alloc_array(arena, n, sizeof *branch->in, infer->err);
    branch->in_pointers = arena_alloc_array(arena, n, sizeof *branch->in_pointers, infer->err);
    branch->input_of = arena_alloc_array(arena, n, sizeof *branch->input_of, infer->err);
    branch->result_of =
        arena_alloc_array(arena, infer->n_outputs, sizeof *branch->result_of, infer->err);
    bool *is_constant = arena_alloc_array(arena, n, sizeof *is_constant, infer->err);
    if (infer->err->code != IRRUN_OK || !bind_inputs(infer, branch) || !bind_outputs(infer, branch))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        branch->in_pointers[k] = &branch->in[k];
        is_constant[k] = body_has_constant(infer, branch->input_of[k]);
    }
    branch->runner = plan_body_runner(infer->plan, graph, is_constant, infer->err);
    return branch->runner != NULL;
}

static bool infer_branch(struct infer *infer, struct if_branch *branch, struct irrun_tensor *out,
                         bool *is_known, struct irrun_error *err)
{
    const struct graph *graph = branch->body->graph;
    struct irrun_tensor *results =
        arena_alloc_array(infer->arena, graph->n_results, sizeof *results, err);
    if (!results)
        return false;
    for (uint32_t k = 0; k < graph->n_parameters; k++) {
        uint32_t input = branch->input_of[k];
        if (!body_describe_input(infer, input, body_has_constant(infer, input), &branch->in[k]))
            return false;
    }
    if (!runner_infer(branch->runner, branch->in_pointers, results, is_known, err))
        return false;
    for (uint32_t k = 0; *is_known && k < infer->n_outputs; k++)
        out[k] = results[branch->result_of[k]];
    return true;
}

static bool have_equal_shapes(const struct irrun_tensor *a, const struct irrun_tensor *b,
                              uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (a[k].dtype != b[k].dtype || !shape_equals(&a[k].shape, &b[k].shape))
            return false;
    return true;
}

/* Infers the outputs if both branches give them the same types and shapes. Ignores errors of a
 * branch, because the branch may never run for these inputs. */
static bool infer_both(struct infer *infer, struct if_state *state, bool *is_known)
{
    struct irrun_tensor *other =
        arena_alloc_array(infer->arena, infer->n_outputs, sizeof *other, infer->err);
    struct irrun_error ignored = {.code = IRRUN_OK};
    bool is_then_known = false, is_else_known = false;
    if (!other)
        return false;
    *is_known =
        infer_branch(infer, &state->branches[THEN_BODY], infer->out, &is_then_known, &ignored) &&
        infer_branch(infer, &state->branches[ELSE_BODY], other, &is_else_known, &ignored) &&
        is_then_known && is_else_known && have_equal_shapes(infer->out, other, infer->n_outputs);
    if (ignored.code != IRRUN_SYSTEM)
        return true;
    *infer->err = ignored;
    return false;
}

static bool run_branch(struct if_branch *branch, struct irrun_tensor *const *in,
                       struct irrun_error *err)
{
    for (uint32_t k = 0; k < branch->body->graph->n_parameters; k++)
        branch->in[k] = *in[branch->input_of[k]];
    return runner_run(branch->runner, branch->in_pointers, err);
}

/* Runs the branch because the shapes of the outputs depend on data. */
static bool run_to_infer(struct infer *infer, struct if_state *state)
{
    struct if_branch *branch = &state->branches[state->selected];
    struct irrun_tensor **in = body_get_values(infer);
    state->kept =
        arena_alloc_array(infer->arena, infer->n_outputs, sizeof *state->kept, infer->err);
    if (!in || !state->kept || !run_branch(branch, in, infer->err))
        return false;
    for (uint32_t k = 0; k < infer->n_outputs; k++) {
        const struct irrun_tensor *value = runner_output(branch->runner, branch->result_of[k]);
        infer->out[k] = state->kept[k] = *value;
        infer->out[k].dtype = runner_output_dtype(branch->runner, branch->result_of[k]);
        infer->out[k].data = NULL;
        state->kept[k].data = arena_alloc(infer->arena, tensor_n_bytes(value), infer->err);
        if (!state->kept[k].data)
            return false;
        tensor_copy(&state->kept[k], value);
    }
    state->ran_in_infer = true;
    return true;
}

static bool infer(struct infer *infer)
{
    struct if_state *state = infer->state;
    state->selected = -1;
    if (infer->op->n_bodies != 2)
        return infer_fail(infer, "has %u bodies, expected then_body and else_body",
                          infer->op->n_bodies);
    for (int i = 0; i < 2; i++)
        if (!bind_branch(infer, &state->branches[i], &infer->op->bodies[i]))
            return false;
    if (shape_n_elements(&infer->in[0]->shape) != 1)
        return infer_fail_input(infer, 0, "one boolean, [] or [1]");
    bool is_known = false;
    if (!infer->is_constant[0] && !infer_both(infer, state, &is_known))
        return false;
    if (is_known)
        return true;
    const struct irrun_tensor *condition = infer_value(infer, 0);
    if (!condition)
        return false;
    state->selected = *(const unsigned char *)condition->data != 0 ? THEN_BODY : ELSE_BODY;
    if (!infer_branch(infer, &state->branches[state->selected], infer->out, &is_known, infer->err))
        return false;
    return is_known || run_to_infer(infer, state);
}

static bool run(const struct step *step, struct irrun_error *err)
{
    const struct if_state *state = step->state;
    int selected = state->selected;
    if (selected < 0)
        selected = *(const unsigned char *)step->in[0]->data != 0 ? THEN_BODY : ELSE_BODY;
    struct if_branch branch = state->branches[selected];
    if (!state->ran_in_infer && !run_branch(&branch, step->in, err))
        return false;
    for (uint32_t k = 0; k < step->n_outputs; k++)
        tensor_copy(step->out[k], state->ran_in_infer
                                      ? &state->kept[k]
                                      : runner_output(branch.runner, branch.result_of[k]));
    return true;
}

static const struct op_input_def inputs[] = {
    {.name = "cond", .types = TYPES_BOOLEAN},
    {.name = "inputs", .types = TYPES_ANY, .is_optional = true, .is_repeated = true},
};

const struct op_def op_if = {
    .type = "If",
    .opset = 8,
    OP_INPUTS(inputs),
    .n_outputs = OUTPUTS_LISTED,
    .state_size = sizeof(struct if_state),
    .infer = infer,
    .run = run,
};
