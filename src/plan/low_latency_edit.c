/* Adds a ReadValue and an Assign for each state of recurrent ops, and makes the time axis of inputs
 * dynamic.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "ops/internal_ops.h"
#include "ops/op_state.h"
#include "plan/graph_edit.h"
#include "plan/low_latency_internal.h"
#include "plan/passes.h"

struct editing {
    struct low_latency *pass;
    struct graph_edit edit;
    struct graph *graph;
    const struct op_def *read, *assign;
};

static void set_input(struct editing *e, uint32_t op_id, uint32_t input, uint32_t value_id)
{
    e->graph->input_ids[e->graph->ops[op_id].first_input + input] = value_id;
}

/* Returns the shape that the XML declares for a value. */
static struct irrun_partial_shape shape_of_value(const struct graph *graph, uint32_t value_id)
{
    struct irrun_partial_shape shape = partial_shape_any();
    uint32_t rank = time_rank(graph, value_id);
    shape.is_rank_dynamic = rank == 0;
    shape.rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t dim = time_dim(graph, value_id, i);
        shape.min[i] = dim < 0 ? 0 : dim;
        shape.max[i] = dim < 0 ? INT64_MAX : dim;
    }
    return shape;
}

static bool is_variable_id(const struct graph *graph, const char *id)
{
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        const struct read_value_attrs *attrs = graph->ops[i].attrs;
        if (op_role_of(&graph->ops[i]) == ROLE_READ_VALUE && strcmp(attrs->variable_id, id) == 0)
            return true;
    }
    return false;
}

/* Returns the id of the variable for state i: "OP.h" or "OP.c" for a sequence, "OP.0", "OP.1", …
 * for a body. A second op with the same name gets "OP.2.h". */
static const char *format_id(struct editing *e, const struct recurrence *item, uint32_t i)
{
    const struct op *op = &e->graph->ops[item->op_id];
    size_t size = strlen(op->name) + 32;
    char *id = arena_alloc(e->pass->arena, size, e->pass->err), number[12] = "";
    for (unsigned k = 2; id; k++) {
        if (op->n_bodies > 0)
            snprintf(id, size, "%s%s.%u", op->name, number, i);
        else
            snprintf(id, size, "%s%s.%c", op->name, number, "hc"[i]);
        if (!is_variable_id(e->graph, id))
            break;
        snprintf(number, sizeof number, ".%u", k);
    }
    return id;
}

/* Adds a ReadValue before the op and an Assign after it. */
static bool add_variable(struct editing *e, const struct recurrence *item, uint32_t i)
{
    const struct recurrent_state_port *state = &item->states[i];
    struct read_value_attrs *read = arena_alloc(e->pass->arena, sizeof *read, e->pass->err);
    struct assign_attrs *assign = arena_alloc(e->pass->arena, sizeof *assign, e->pass->err);
    const char *id = format_id(e, item, i);
    if (!read || !assign || !id)
        return false;
    struct op op = e->graph->ops[item->op_id];
    uint32_t init = op_input(e->graph, &op, state->input);
    read->variable_id = assign->variable_id = id;
    read->variable_type = time_dtype(e->graph, init);
    read->variable_shape = shape_of_value(e->graph, init);
    uint32_t read_id = graph_edit_add(&e->edit, e->read, read, &op, &init, 1, 1);
    uint32_t after = op.first_output + state->output;
    uint32_t assign_id = graph_edit_add(&e->edit, e->assign, assign, &op, &after, 1, 1);
    e->graph->ops[read_id].name = e->graph->ops[assign_id].name = id;
    e->graph->ops[read_id].version = e->graph->ops[assign_id].version = "opset6";
    struct value *value = &e->graph->values[e->graph->ops[read_id].first_output];
    value->dtype_hint = e->graph->values[init].dtype_hint;
    value->rank_hint = e->graph->values[init].rank_hint;
    value->dims_hint = e->graph->values[init].dims_hint;
    set_input(e, item->op_id, state->input, e->graph->ops[read_id].first_output);
    return true;
}

/* Replaces the constant sequence_lengths or trip_count with the number of frames of the chunk. */
static bool add_lengths(struct editing *e, const struct recurrence *item)
{
    const struct op op = e->graph->ops[item->op_id];
    uint32_t x = op_input(e->graph, &op, item->x);
    struct n_frames_attrs *attrs = arena_alloc(e->pass->arena, sizeof *attrs, e->pass->err);
    if (!attrs)
        return false;
    *attrs = (struct n_frames_attrs){.axis = item->axis, .batch = op.n_bodies > 0 ? -1 : 0};
    uint32_t op_id = graph_edit_add(&e->edit, &op_n_frames, attrs, &op, &x, 1, 1);
    e->graph->ops[op_id].version = "";
    set_input(e, item->op_id, item->lengths, e->graph->ops[op_id].first_output);
    return true;
}

/* Adds an output to a loop for each state that gets a variable but has no output: its value after
 * the last iteration. */
static bool add_outputs(struct editing *e, const struct recurrence *item)
{
    struct op *op = &e->graph->ops[item->op_id];
    struct body *body = &op->bodies[0];
    struct port_map *maps = arena_alloc_array(e->pass->arena, body->n_outputs + item->n_states,
                                              sizeof *maps, e->pass->err);
    uint32_t n_outputs = op->n_outputs;
    if (!maps)
        return false;
    memcpy(maps, body->outputs, body->n_outputs * sizeof *maps);
    body->outputs = maps;
    for (uint32_t i = 0; i < item->n_states; i++) {
        struct recurrent_state_port *state = &item->states[i];
        if (!state->gets_variable || state->output != NO_ID)
            continue;
        state->output = n_outputs++;
        maps[body->n_outputs++] = (struct port_map){.external = state->output,
                                                    .internal_id = state->result,
                                                    .line = op->line,
                                                    .column = op->column};
    }
    if (n_outputs > op->n_outputs)
        graph_edit_extend(&e->edit, item->op_id, n_outputs);
    return true;
}

/* Makes slices of inputs and pieces of outputs end with the chunk (-1), not at the fixed number of
 * frames. */
static void edit_maps(struct port_map *maps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (maps[i].has_axis)
            maps[i].end = -1;
}

static bool edit_one(struct editing *e, const struct recurrence *item, struct remarks *remarks)
{
    const struct op *op = &e->graph->ops[item->op_id];
    if (op->n_bodies > 0) {
        edit_maps(op->bodies[0].inputs, op->bodies[0].n_inputs);
        edit_maps(op->bodies[0].outputs, op->bodies[0].n_outputs);
        if (!add_outputs(e, item))
            return false;
    } else if (op->n_outputs <= item->n_states) {
        graph_edit_extend(&e->edit, item->op_id, item->n_states + 1);
    }
    for (uint32_t i = 0; i < item->n_states; i++)
        if (item->states[i].gets_variable && !add_variable(e, item, i))
            return false;
    if (item->lengths != NO_ID && !add_lengths(e, item))
        return false;
    op = &e->graph->ops[item->op_id];
    return item->kind != RECURRENCE_ADAPTABLE ||
           remarks_add(remarks, e->pass->arena, e->pass->err,
                       "%s \"%s\" (line %u) keeps its state from one record to the next",
                       op->def->type, op->name, (unsigned)op->line);
}

static bool edit_reshapes(struct editing *e)
{
    for (size_t i = 0; i < e->pass->walk.n_reshapes; i++) {
        const struct time_reshape *from = &e->pass->walk.reshapes[i];
        struct irrun_shape *shape = arena_alloc(e->pass->arena, sizeof *shape, e->pass->err);
        if (!shape)
            return false;
        *shape = shape_of(from->n, from->dims);
        struct op *op = &e->graph->ops[from->op_id];
        op->def = &op_reshape_frames;
        op->attrs = shape;
        op->n_inputs = 1;
    }
    return true;
}

/* Makes the time axis of inputs dynamic, with at least one frame. */
static bool edit_inputs(struct editing *e)
{
    for (uint32_t i = 0; i < e->graph->n_parameters; i++) {
        struct op *op = &e->graph->ops[e->graph->parameters[i]];
        const struct time_use *use = &e->pass->walk.uses[op->first_output];
        if (use->kind != TIME_ALONG)
            continue;
        struct parameter_attrs *attrs =
            arena_copy(e->pass->arena, op->attrs, 1, sizeof *attrs, e->pass->err);
        if (!attrs)
            return false;
        attrs->shape.min[use->axis] = 1;
        attrs->shape.max[use->axis] = INT64_MAX;
        op->attrs = attrs;
    }
    return true;
}

/* Makes the time axis dynamic in the shapes of the XML. */
static void edit_hints(struct editing *e)
{
    for (uint32_t i = 0; i < e->graph->n_values; i++) {
        const struct time_use *use = &e->pass->walk.uses[i];
        struct value *value = &e->graph->values[i];
        if (use->kind == TIME_ALONG && use->axis < value->rank_hint)
            value->dims_hint[use->axis] = -1;
    }
}

/* Must be called before the first edit, because walk.uses has no elements for added values. */
static bool runs_over_time(const struct low_latency *pass, const struct recurrence *item)
{
    const struct op *op = &pass->graph->ops[item->op_id];
    return pass->carries[item->op_id] &&
           pass->walk.uses[op_input(pass->graph, op, item->x)].kind == TIME_ALONG;
}

bool low_latency_edit(struct low_latency *pass, struct remarks *remarks)
{
    struct editing e = {.pass = pass, .graph = pass->graph};
    char why[OP_WHY_BYTES];
    e.read = op_find("ReadValue", "opset6", why);
    e.assign = op_find("Assign", "opset6", why);
    edit_hints(&e);
    for (size_t i = 0; i < pass->n; i++)
        pass->carries[pass->items[i].op_id] = runs_over_time(pass, &pass->items[i]);
    /* Each op needs at most a ReadValue and an Assign per state, one op for its lengths, and new
     * values for its outputs. */
    size_t n_ops = 0, n_outputs = 0;
    for (size_t i = 0; i < pass->n; i++) {
        n_ops += 2 * (size_t)pass->items[i].n_states + 1;
        n_outputs += pass->graph->ops[pass->items[i].op_id].n_outputs + pass->items[i].n_states + 1;
    }
    if (!graph_edit_begin(&e.edit, pass->graph, pass->arena, n_ops, n_ops + n_outputs, n_ops,
                          pass->err) ||
        !edit_reshapes(&e) || !edit_inputs(&e))
        return false;
    for (size_t i = 0; i < pass->n; i++)
        if (pass->carries[pass->items[i].op_id] && !edit_one(&e, &pass->items[i], remarks))
            return false;
    return toposort(pass->graph, pass->arena, pass->err);
}
