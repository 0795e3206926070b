/* Finds the states of recurrent ops, and the inputs that their initial values depend on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/recurrence.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op_state.h"
#include "ops/recurrent_op.h"
#include "plan/graph_ints.h"

/* A Parameter and a ReadValue on which the elements of a value, not only its shape, depend. */
struct origin {
    const struct op *parameter, *read; /* NULL: none */
};

/* Finds the origin of a value by a search through the ops that compute it. Returns false with *err
 * filled if memory runs out. */
static bool find_origin(const struct graph *graph, uint32_t value_id, struct origin *origin,
                        struct irrun_error *err)
{
    uint32_t *stack = new_array((size_t)graph->n_ops + 1, sizeof *stack, err), n = 0;
    bool *is_seen = new_array(graph->n_ops, sizeof *is_seen, err);
    *origin = (struct origin){NULL, NULL};
    if (stack && is_seen)
        stack[n++] = graph->values[value_id].op_id;
    while (n > 0) {
        uint32_t op_id = stack[--n];
        const struct op *op = &graph->ops[op_id];
        if (op->def->role == ROLE_PARAMETER)
            origin->parameter = op;
        else if (op->def->role == ROLE_READ_VALUE)
            origin->read = op;
        if (op->def->role == ROLE_READ_VALUE || (op->def->flags & OP_SHAPES_ONLY))
            continue;
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            uint32_t source = graph->values[op_input(graph, op, i)].op_id;
            if (!is_seen[source])
                stack[n++] = source;
            is_seen[source] = true;
        }
    }
    bool is_done = stack && is_seen;
    free(stack);
    free(is_seen);
    return is_done;
}

/* Returns whether a Transpose moves only dimensions of length 1, so that the elements stay in
 * order. */
static bool moves_only_ones(const struct graph *graph, const struct op *op)
{
    int64_t order[IRRUN_MAX_RANK], last = -1;
    uint32_t n, in = op_input(graph, op, 0);
    if (!graph_ints(graph, op_input(graph, op, 1), order, IRRUN_MAX_RANK, &n) ||
        n != time_rank(graph, in))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (time_dim(graph, in, (uint32_t)order[i]) == 1)
            continue;
        if (order[i] < last)
            return false;
        last = order[i];
    }
    return true;
}

static bool is_reshaping(const struct graph *graph, const struct op *op)
{
    return op_is_type(op, "Reshape") || op_is_type(op, "Squeeze") || op_is_type(op, "Unsqueeze") ||
           (op_is_type(op, "Transpose") && moves_only_ones(graph, op));
}

uint32_t recurrence_skip_reshapes(const struct graph *graph, uint32_t value_id)
{
    for (const struct op *op = value_producer(graph, value_id); is_reshaping(graph, op);
         op = value_producer(graph, value_id))
        value_id = op_input(graph, op, 0);
    return value_id;
}

/* Returns whether an Assign writes output `output` of the op, which may be reshaped, to the
 * variable that `read` reads. */
static bool keeps_state(const struct graph *graph, const struct op *read, const struct op *op,
                        uint32_t output)
{
    const struct read_value_attrs *read_attrs = read->attrs;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *assign = &graph->ops[graph->order[i]];
        const struct assign_attrs *assign_attrs = assign->attrs;
        if (assign->def->role == ROLE_ASSIGN &&
            strcmp(assign_attrs->variable_id, read_attrs->variable_id) == 0)
            return recurrence_skip_reshapes(graph, op_input(graph, assign, 0)) ==
                   op->first_output + output;
    }
    return false;
}

void recurrence_refuse(struct recurrence *found, const char *format, ...)
{
    va_list args;
    if (found->kind == RECURRENCE_REFUSED)
        return;
    found->kind = RECURRENCE_REFUSED;
    va_start(args, format);
    vsnprintf(found->why, sizeof found->why, format, args);
    va_end(args);
}

/* Sets the kind: the states are variables already, can become variables, or are refused. */
static bool check_states(const struct graph *graph, struct recurrence *found,
                         struct irrun_error *err)
{
    const struct op *op = &graph->ops[found->op_id];
    bool gets_any = false;
    for (uint32_t i = 0; i < found->n_states; i++) {
        uint32_t value_id = op_input(graph, op, found->states[i].input);
        struct origin origin;
        if (!find_origin(graph, value_id, &origin, err))
            return false;
        if (dtype_is_half(time_dtype(graph, value_id)))
            recurrence_refuse(found, "has a state of %s, which would be rounded after each chunk",
                              irrun_dtype_name(time_dtype(graph, value_id)));
        if (origin.parameter)
            recurrence_refuse(found, "starts from a state that depends on input \"%.150s\"",
                              origin.parameter->name);
        if (origin.read &&
            value_producer(graph, recurrence_skip_reshapes(graph, value_id)) != origin.read)
            recurrence_refuse(found, "starts from a value computed from variable \"%.150s\"",
                              ((const struct read_value_attrs *)origin.read->attrs)->variable_id);
        else if (origin.read && !keeps_state(graph, origin.read, op, found->states[i].output))
            recurrence_refuse(found, "starts from variable \"%.150s\", which is not its last state",
                              ((const struct read_value_attrs *)origin.read->attrs)->variable_id);
        for (uint32_t k = 0; k < i; k++)
            if (found->states[k].input == found->states[i].input)
                recurrence_refuse(found, "has two states that start from one input, \"%.150s\"",
                                  value_producer(graph, value_id)->name);
        found->states[i].gets_variable = !origin.read;
        gets_any |= !origin.read;
    }
    if (found->kind != RECURRENCE_REFUSED)
        found->kind = gets_any ? RECURRENCE_ADAPTABLE : RECURRENCE_CARRIED;
    return true;
}

/* Describes LSTMSequence, GRUSequence or RNNSequence. */
static bool describe_sequence(const struct op *op, struct recurrence *found, struct arena *arena,
                              struct irrun_error *err)
{
    const struct recurrent_family *family = recurrent_family_of(op);
    const struct recurrent_attrs *attrs = op->attrs;
    found->x = family->x;
    found->axis = 1;
    found->lengths = family->lengths;
    found->n_states = family->c0 == NO_INPUT ? 1 : 2;
    found->states = arena_alloc_array(arena, 2, sizeof *found->states, err);
    if (!found->states)
        return false;
    found->states[0] = (struct recurrent_state_port){.input = family->h0, .output = 1};
    found->states[1] = (struct recurrent_state_port){.input = family->c0, .output = 2};
    if (attrs->direction != DIRECTION_FORWARD)
        recurrence_refuse(found, "is %s",
                          attrs->direction == DIRECTION_REVERSE ? "reverse" : "bidirectional");
    return true;
}

bool recurrence_find(const struct graph *graph, uint32_t op_id, struct recurrence *found,
                     struct arena *arena, struct irrun_error *err)
{
    const struct op *op = &graph->ops[op_id];
    *found = (struct recurrence){.kind = RECURRENCE_NONE, .op_id = op_id, .lengths = NO_ID};
    if (op->n_bodies == 1)
        return recurrence_describe_loop(graph, op, found, arena, err) &&
               check_states(graph, found, err);
    if (op->def->prepare != recurrent_prepare || !recurrent_family_of(op)->is_sequence ||
        op->n_inputs <= recurrent_family_of(op)->r)
        return true;
    return describe_sequence(op, found, arena, err) && check_states(graph, found, err);
}

/* ---- lengths ---- */

/* Returns whether all elements of a Const are `number`. Its type must be an integer of 8 bits or
 * more, as sequence_lengths must be. */
static bool is_all(const struct graph *graph, const struct op *op, int64_t number)
{
    const struct const_attrs *attrs = op->attrs;
    enum irrun_dtype dtype = attrs->element_type;
    size_t n = (size_t)shape_n_elements(&attrs->shape);
    if (!graph->weights->data || !dtype_is_integer(dtype) || dtype_stored_bits(dtype) < 8)
        return false;
    for (size_t i = 0; i < n; i++)
        if (element_as_i64(dtype, graph->weights->data + attrs->offset, i) != number)
            return false;
    return true;
}

bool recurrence_check_lengths(const struct time_walk *walk, const struct recurrence *recurrence,
                              bool *is_fixed)
{
    const struct graph *graph = walk->graph;
    const struct op *op = &graph->ops[recurrence->op_id];
    uint32_t value_id = op_input(graph, op, recurrence->lengths);
    const struct op *source = value_producer(graph, value_id);
    struct time_items items;
    bool is_known = time_items_find(walk, value_id, &items);
    enum time_kind kind = walk->uses[value_id].kind;
    *is_fixed = false;
    if (kind == TIME_LENGTH) {
        for (uint32_t i = 0; is_known && i < items.n; i++)
            is_known = items.items[i].kind == TIME_ITEM_FRAMES && items.items[i].number == 1;
        return is_known;
    }
    if (source->def->role == ROLE_PARAMETER)
        return op->n_bodies == 0;
    *is_fixed = walk->n_frames > 0;
    if (source->def->role == ROLE_CONST)
        return *is_fixed && is_all(graph, source, walk->n_frames);
    for (uint32_t i = 0; is_known && i < items.n; i++)
        is_known =
            items.items[i].kind == TIME_ITEM_NUMBER && items.items[i].number == walk->n_frames;
    return kind == TIME_NONE && *is_fixed && is_known;
}
