/* Finds the states of TensorIterator and Loop, and follows the time axis through them. Each
 * iteration reads one frame of every sliced input, and back edges carry the states.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"
#include "plan/recurrence.h"
#include "plan/time_rules.h"

/* Inputs of Loop. */
enum { TRIP_COUNT, EXECUTION_CONDITION };

/* ---- slices and states ---- */

/* Returns the output that gets the value of a Result in the last iteration; NO_ID: none. */
static uint32_t output_of(const struct body *body, uint32_t result_id)
{
    for (uint32_t i = 0; i < body->n_outputs; i++) {
        const struct port_map *map = &body->outputs[i];
        if (map->internal_id == result_id && !map->has_axis && map->external >= 0)
            return (uint32_t)map->external;
    }
    return NO_ID;
}

/* Returns whether the next iteration gets the same value as this one. */
static bool is_loop_invariant(const struct body *body, const struct back_edge *edge)
{
    const struct op *result = &body->graph->ops[edge->from_id];
    return value_producer(body->graph, op_input(body->graph, result, 0)) ==
           &body->graph->ops[edge->to_id];
}

/* Lists the states in the order of the inputs that give their initial values. */
static bool list_states(const struct body *body, struct recurrence *found, struct arena *arena,
                        struct irrun_error *err)
{
    found->states = arena_alloc_array(arena, body->n_back_edges, sizeof *found->states, err);
    for (uint32_t i = 0; i < body->n_back_edges && found->states; i++) {
        const struct back_edge *edge = &body->back_edges[i];
        const struct port_map *map = body_input_map(body, edge->to_id);
        if (!map || map->external < 0 || is_loop_invariant(body, edge))
            continue;
        uint32_t at = found->n_states++, input = (uint32_t)map->external;
        for (; at > 0 && found->states[at - 1].input > input; at--)
            found->states[at] = found->states[at - 1];
        found->states[at] = (struct recurrent_state_port){
            .input = input, .output = output_of(body, edge->from_id), .result = edge->from_id};
    }
    return found->states != NULL;
}

static uint32_t axis_of(const struct graph *graph, uint32_t value_id, const struct port_map *map)
{
    int64_t rank = time_rank(graph, value_id);
    return (uint32_t)(map->axis < 0 ? map->axis + rank : map->axis);
}

bool recurrence_describe_loop(const struct graph *graph, const struct op *op,
                              struct recurrence *found, struct arena *arena,
                              struct irrun_error *err)
{
    const struct body *body = &op->bodies[0];
    bool is_sliced = false;
    for (uint32_t i = 0; i < body->n_inputs && !is_sliced; i++) {
        const struct port_map *map = &body->inputs[i];
        if (!map->has_axis || map->external < 0)
            continue;
        is_sliced = true;
        found->x = (uint32_t)map->external;
        found->axis = axis_of(graph, op_input(graph, op, found->x), map);
        if (map->stride < 0)
            recurrence_refuse(found, "reads the sequence in reverse");
    }
    if (!is_sliced)
        recurrence_refuse(found, "has no input that is sliced into frames");
    if (op_is_type(op, "Loop"))
        found->lengths = TRIP_COUNT;
    return list_states(body, found, arena, err);
}

/* ---- the time axis ---- */

/* Returns whether the slices of an input, or the pieces of an output, cover all frames, from the
 * first to the last. */
static bool covers_all(const struct time_op *t, const struct port_map *map)
{
    int64_t n = t->walk->n_frames;
    return map->stride == map->part_size && map->part_size > 0 && map->start == 0 &&
           (map->end == -1 || (n > 0 && map->end == n * map->part_size));
}

static bool check_slices(struct time_op *t, const struct port_map *map, uint32_t input)
{
    uint32_t value_id = op_input(t->graph, t->op, input), axis = axis_of(t->graph, value_id, map);
    const struct time_use *use = &t->walk->uses[value_id];
    if (use->kind == TIME_NONE)
        return time_check_operand(t, input, axis) &&
               (t->walk->is_trial ||
                time_refuse(t, "slices input %u, which has no time axis", input));
    if (use->kind != TIME_ALONG || use->axis != axis || use->outer != 1 || use->inner != 1)
        return time_refuse(t, "slices input %u along a dimension other than time", input);
    if (map->part_size != 1 || !covers_all(t, map))
        return time_refuse(t, "does not read all frames of input %u, one per iteration", input);
    return true;
}

static bool check_inputs(struct time_op *t, const struct body *body)
{
    for (uint32_t i = 0; i < body->n_inputs; i++) {
        const struct port_map *map = &body->inputs[i];
        if (map->external < 0)
            continue;
        uint32_t input = (uint32_t)map->external;
        const struct time_use *use = time_input(t, input);
        bool is_state = false;
        for (uint32_t k = 0; k < body->n_back_edges; k++)
            is_state |= body->back_edges[k].to_id == map->internal_id;
        if (map->has_axis) {
            if (!check_slices(t, map, input))
                return false;
        } else if (use->kind != TIME_NONE && !(is_state && use->kind == TIME_LAST)) {
            return time_refuse(t, "reads all frames of input %u in every iteration", input);
        }
    }
    return true;
}

static bool is_true(const struct graph *graph, uint32_t value_id)
{
    const struct op *op = value_producer(graph, value_id);
    if (op->def->role != ROLE_CONST)
        return false;
    const struct const_attrs *attrs = op->attrs;
    return attrs->element_type == IRRUN_BOOLEAN && shape_n_elements(&attrs->shape) == 1 &&
           graph->weights->data && graph->weights->data[attrs->offset] != 0;
}

/* Returns whether the body never ends the loop: its condition is the constant true, or the initial
 * condition of the loop, which is true. */
static bool never_stops(const struct time_op *t, const struct body *body)
{
    for (uint32_t i = 0; i < body->n_outputs; i++) {
        if (body->outputs[i].purpose != PURPOSE_EXECUTION_CONDITION)
            continue;
        const struct op *result = &body->graph->ops[body->outputs[i].internal_id];
        uint32_t value_id = op_input(body->graph, result, 0);
        const struct port_map *map = body_input_map(body, body->graph->values[value_id].op_id);
        for (uint32_t k = 0; k < body->n_back_edges && map; k++)
            if (body->back_edges[k].to_id == map->internal_id &&
                !is_loop_invariant(body, &body->back_edges[k]))
                map = NULL;
        if (!is_true(body->graph, value_id) &&
            (!map || map->external < 0 ||
             !is_true(t->graph, op_input(t->graph, t->op, (uint32_t)map->external))))
            return false;
    }
    return is_true(t->graph, op_input(t->graph, t->op, EXECUTION_CONDITION));
}

static bool uses_iteration(const struct body *body)
{
    const struct graph *graph = body->graph;
    for (uint32_t i = 0; i < body->n_inputs; i++) {
        const struct op *parameter = &graph->ops[body->inputs[i].internal_id];
        if (body->inputs[i].purpose != PURPOSE_CURRENT_ITERATION)
            continue;
        for (uint32_t k = 0; k < graph->n_order; k++) {
            const struct op *op = &graph->ops[graph->order[k]];
            for (uint32_t j = 0; j < op->n_inputs; j++)
                if (op_input(graph, op, j) == parameter->first_output)
                    return true;
        }
    }
    return false;
}

static bool set_outputs(struct time_op *t, const struct body *body)
{
    for (uint32_t i = 0; i < t->op->n_outputs; i++)
        t->out[i] = (struct time_use){.kind = TIME_LAST};
    for (uint32_t i = 0; i < body->n_outputs; i++) {
        const struct port_map *map = &body->outputs[i];
        if (map->external < 0 || !map->has_axis || (uint64_t)map->external >= t->op->n_outputs)
            continue;
        if (!covers_all(t, map))
            return time_refuse(t, "does not join output %lld from the first frame to the last",
                               (long long)map->external);
        uint32_t output = (uint32_t)map->external;
        uint32_t axis = axis_of(t->graph, t->op->first_output + output, map);
        t->out[output] = (struct time_use){
            .kind = TIME_ALONG, .axis = axis, .outer = 1, .inner = map->part_size};
    }
    return true;
}

bool time_rule_loop(struct time_op *t)
{
    const struct body *body = &t->op->bodies[0];
    if (!t->walk->carries[t->op - t->graph->ops])
        return time_refuse(t, "does not keep its state from one chunk to the next");
    if (op_is_type(t->op, "Loop") && !never_stops(t, body))
        return time_refuse(t, "may end before the last frame");
    if (uses_iteration(body))
        return time_refuse(t, "uses the iteration number");
    return check_inputs(t, body) && set_outputs(t, body);
}
