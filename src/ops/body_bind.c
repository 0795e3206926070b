/* Connects the ports of TensorIterator and Loop to the Parameters and Results of the body.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ops/body_loop.h"
#include "ops/op_state.h"

static bool fail_map(struct infer *infer, const struct port_map *map, const char *problem)
{
    struct place place = {infer->graph->file, map->line, map->column};
    return fail_at(infer->err, IRRUN_DATA, place, "port_map of %s \"%s\" (line %u): %s",
                   infer->op->def->type, infer->op->name, infer->op->line, problem);
}

static bool fail_slices(struct infer *infer, const struct loop_param *param)
{
    return infer_fail_input(infer, param->input, "axis %u to hold the slices from %lld to %lld",
                            param->axis, (long long)param->map->start, (long long)param->map->end);
}

bool loop_axis(struct infer *infer, const struct port_map *map, uint32_t rank, uint32_t *axis)
{
    return infer_axis(infer, map->axis, rank, axis) ||
           fail_hint(infer->err, "fix axis in line %u, column %u, of the port_map", map->line,
                     map->column);
}

/* Checks that slices are adjacent, in ascending or descending order. */
static bool check_stride(struct infer *infer, const struct port_map *map)
{
    if (map->part_size >= 1 && (map->stride == map->part_size || map->stride == -map->part_size))
        return true;
    fail_map(infer, map, "stride must be part_size or its negative");
    return fail_hint(infer->err, "stride is %lld, part_size %lld", (long long)map->stride,
                     (long long)map->part_size);
}

bool loop_bound(int64_t bound, int64_t length, int64_t *position)
{
    *position = bound < 0 ? length + 1 + bound : bound;
    return *position >= 0 && *position <= length;
}

static bool bind_slices(struct infer *infer, struct loop_param *param)
{
    const struct port_map *map = param->map;
    const struct irrun_tensor *in = infer->in[param->input];
    if (!loop_axis(infer, map, in->shape.rank, &param->axis) || !check_stride(infer, map))
        return false;
    int64_t length = in->shape.dims[param->axis];
    if (!loop_bound(map->start, length, &param->first))
        return fail_slices(infer, param);
    param->part = map->part_size;
    param->is_reverse = map->stride < 0;
    return true;
}

bool loop_count_slices(struct infer *infer, const struct loop_param *param, int64_t *n_iterations)
{
    int64_t end, length = infer->in[param->input]->shape.dims[param->axis];
    if (!loop_bound(param->map->end, length, &end))
        return fail_slices(infer, param);
    int64_t span = param->is_reverse ? param->first - end : end - param->first;
    if (span < 0)
        return fail_map(infer, param->map, "stride must lead from start to end");
    if (span % param->part != 0)
        return infer_fail_input(infer, param->input,
                                "a length along axis %u that is divisible by part_size %lld",
                                param->axis, (long long)param->part);
    *n_iterations = span / param->part;
    return true;
}

bool loop_check_pieces(struct infer *infer, const struct loop_output *output, int64_t n_iterations)
{
    const struct port_map *map = output->map;
    int64_t length, start, end;
    if (checked_mul_i64(n_iterations, map->part_size, &length) &&
        loop_bound(map->start, length, &start) && loop_bound(map->end, length, &end) &&
        (end - start == length || start - end == length))
        return true;
    fail_map(infer, map, "start and end must span all iterations");
    return fail_hint(infer->err,
                     "there are %lld iterations, start is %lld, end %lld, part_size %lld",
                     (long long)n_iterations, (long long)map->start, (long long)map->end,
                     (long long)map->part_size);
}

static bool bind_param(struct infer *infer, struct loop_state *state, const struct port_map *map)
{
    uint32_t k = body_ordinal(state->body->graph, map->internal_id, ROLE_PARAMETER);
    if (k == NO_ID)
        return fail_map(infer, map, "internal_layer_id is not a Parameter of the body");
    struct loop_param *param = &state->params[k];
    if (param->source != LOOP_UNBOUND)
        return fail_map(infer, map, "the Parameter of internal_layer_id has another port_map");
    if (map->purpose == PURPOSE_CURRENT_ITERATION)
        param->source = LOOP_ITERATION;
    if (map->purpose == PURPOSE_CURRENT_ITERATION || map->external < 0)
        return true;
    if ((uint64_t)map->external >= infer->n_inputs)
        return fail_map(infer, map, "external_port_id is not one of its inputs");
    param->input = (uint32_t)map->external;
    param->map = map;
    param->source = map->has_axis ? LOOP_SLICED : LOOP_INVARIANT;
    return !map->has_axis || bind_slices(infer, param);
}

static bool bind_back_edges(struct infer *infer, struct loop_state *state)
{
    const struct body *body = state->body;
    for (uint32_t i = 0; i < body->n_back_edges; i++) {
        const struct back_edge *edge = &body->back_edges[i];
        uint32_t to = body_ordinal(body->graph, edge->to_id, ROLE_PARAMETER);
        uint32_t from = body_ordinal(body->graph, edge->from_id, ROLE_RESULT);
        if (to == NO_ID || from == NO_ID)
            return infer_fail(infer, "back edge %u does not go from a Result to a Parameter", i);
        struct loop_param *param = &state->params[to];
        if (param->source != LOOP_INVARIANT)
            return infer_fail(infer, "back edge %u goes to Parameter \"%s\" (line %u), which %s", i,
                              body->graph->ops[edge->to_id].name,
                              body->graph->ops[edge->to_id].line,
                              param->source == LOOP_MERGED   ? "has another back edge"
                              : param->source == LOOP_SLICED ? "has the slices of an input"
                                                             : "has no initial value");
        param->source = LOOP_MERGED;
        param->result = from;
        state->param_of_result[from] = to;
    }
    return true;
}

static bool bind_outputs(struct infer *infer, struct loop_state *state)
{
    const struct body *body = state->body;
    for (uint32_t i = 0; i < body->n_outputs; i++) {
        const struct port_map *map = &body->outputs[i];
        uint32_t result = body_ordinal(body->graph, map->internal_id, ROLE_RESULT);
        if (result == NO_ID)
            return fail_map(infer, map, "internal_layer_id is not a Result of the body");
        if (map->purpose == PURPOSE_EXECUTION_CONDITION)
            state->condition_result = result;
        if (map->external < 0)
            continue;
        if ((uint64_t)map->external >= infer->n_outputs)
            return fail_map(infer, map, "external_port_id is not one of its outputs");
        if (map->has_axis && !check_stride(infer, map))
            return false;
        state->outputs[map->external] = (struct loop_output){.is_bound = true,
                                                             .is_concatenated = map->has_axis,
                                                             .is_reverse = map->stride < 0,
                                                             .result = result,
                                                             .map = map};
    }
    for (uint32_t k = 0; k < state->n_outputs; k++)
        if (!state->outputs[k].is_bound)
            return infer_fail(
                infer, "output %u is not connected to a Result of the body (line %u)", k,
                body->graph->n_results > 0 ? body->graph->ops[body->graph->results[0]].line
                                           : infer->op->line);
    return true;
}

static bool allocate(struct infer *infer, struct loop_state *state)
{
    struct arena *arena = infer->arena;
    struct irrun_error *err = infer->err;
    uint32_t n = state->n_params;
    state->params = arena_alloc_array(arena, n, sizeof *state->params, err);
    state->outputs = arena_alloc_array(arena, state->n_outputs, sizeof *state->outputs, err);
    state->param_of_result =
        arena_alloc_array(arena, state->n_results, sizeof *state->param_of_result, err);
    state->in = arena_alloc_array(arena, n, sizeof *state->in, err);
    state->in_pointers = arena_alloc_array(arena, n, sizeof *state->in_pointers, err);
    state->merged[0] = arena_alloc_array(arena, n, sizeof *state->merged[0], err);
    state->merged[1] = arena_alloc_array(arena, n, sizeof *state->merged[1], err);
    state->slices = arena_alloc_array(arena, n, sizeof *state->slices, err);
    state->kept = arena_alloc_array(arena, state->n_outputs, sizeof *state->kept, err);
    state->iteration = arena_alloc(arena, sizeof *state->iteration, err);
    return err->code == IRRUN_OK;
}

/* Makes input k of the body the iteration number, with the shape [] or [1] that its Parameter
 * requires. */
static bool bind_iteration(struct infer *infer, struct loop_state *state,
                           const struct op *parameter, uint32_t k)
{
    const struct parameter_attrs *attrs = parameter->attrs;
    struct irrun_tensor *in = &state->in[k];
    *in = (struct irrun_tensor){attrs->element_type, {.rank = 0}, state->iteration};
    if (in->dtype != IRRUN_I32 && in->dtype != IRRUN_I64)
        return infer_fail(infer, "current_iteration \"%s\" (line %u) is neither i32 nor i64",
                          parameter->name, parameter->line);
    if (partial_shape_admits(&attrs->shape, &in->shape))
        return true;
    in->shape = (struct irrun_shape){.rank = 1, .dims = {1}};
    char text[SHAPE_TEXT_BYTES];
    return partial_shape_admits(&attrs->shape, &in->shape) ||
           infer_fail(infer,
                      "current_iteration \"%s\" (line %u) has the shape %s, expected [] or [1]",
                      parameter->name, parameter->line, partial_shape_format(&attrs->shape, text));
}

/* Checks that every Parameter has a value, and creates the runner. */
static bool make_runner(struct infer *infer, struct loop_state *state)
{
    const struct graph *body = state->body->graph;
    bool *is_constant =
        arena_alloc_array(infer->arena, state->n_params, sizeof *is_constant, infer->err);
    if (!is_constant)
        return false;
    for (uint32_t k = 0; k < state->n_params; k++) {
        const struct op *parameter = &body->ops[body->parameters[k]];
        struct loop_param *param = &state->params[k];
        state->in_pointers[k] = &state->in[k];
        if (param->source == LOOP_UNBOUND)
            return infer_fail(infer,
                              "Parameter \"%s\" of its body (line %u) is not connected to an input",
                              parameter->name, parameter->line);
        if (param->source == LOOP_ITERATION && !bind_iteration(infer, state, parameter, k))
            return false;
        is_constant[k] = param->source == LOOP_INVARIANT && body_has_constant(infer, param->input);
    }
    state->runner = plan_body_runner(infer->plan, body, is_constant, infer->err);
    return state->runner != NULL;
}

bool loop_bind(struct infer *infer, struct loop_state *state)
{
    if (infer->op->n_bodies != 1)
        return infer_fail(infer, "has no body");
    const struct body *body = &infer->op->bodies[0];
    state->place = op_place(infer->graph, infer->op);
    state->body = body;
    state->n_params = body->graph->n_parameters;
    state->n_results = body->graph->n_results;
    state->n_outputs = infer->n_outputs;
    state->condition_result = NO_ID;
    state->n_iterations = -1;
    if (!allocate(infer, state))
        return false;
    for (uint32_t r = 0; r < state->n_results; r++)
        state->param_of_result[r] = NO_ID;
    for (uint32_t i = 0; i < body->n_inputs; i++)
        if (!bind_param(infer, state, &body->inputs[i]))
            return false;
    return bind_back_edges(infer, state) && bind_outputs(infer, state) && make_runner(infer, state);
}
