/* Recognizes TensorIterators whose body is one recurrent cell.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ops/op_state.h"
#include "ops/recurrent_op.h"
#include "plan/cell_loop.h"
#include "plan/graph_ints.h"

struct matching {
    const struct graph *outer;
    const struct op *op;
    const struct body *body;
    const struct graph *graph; /* the graph of the body */
    const struct op *cell;
    const struct recurrent_family *family;
    const struct port_map *slices; /* how X is sliced */
    uint32_t axis;
    int64_t x_columns; /* the last dimension of a slice of X; -1: unknown */
    struct cell_loop *found;
};

static const struct op *producer(const struct matching *match, uint32_t value_id)
{
    return value_producer(match->graph, value_id);
}

static const struct port_map *map_of(const struct matching *match, const struct op *parameter)
{
    return body_input_map(match->body, (uint32_t)(parameter - match->graph->ops));
}

/* Returns the id of the Result that a Parameter takes its next value from, or NO_ID. */
static uint32_t back_edge_source(const struct matching *match, const struct op *parameter)
{
    uint32_t op_id = (uint32_t)(parameter - match->graph->ops);
    for (uint32_t i = 0; i < match->body->n_back_edges; i++)
        if (match->body->back_edges[i].to_id == op_id)
            return match->body->back_edges[i].from_id;
    return NO_ID;
}

static uint32_t outer_value(const struct matching *match, const struct port_map *map)
{
    return op_input(match->outer, match->op, (uint32_t)map->external);
}

/* Returns the attributes of the Const that a value comes from, directly or through a Convert; NULL
 * for any other value. */
static const struct const_attrs *find_const(const struct matching *match, uint32_t value_id)
{
    const struct op *op = producer(match, value_id);
    if (op_is_type(op, "Convert"))
        op = producer(match, op_input(match->graph, op, 0));
    return op->def->role == ROLE_CONST ? op->attrs : NULL;
}

/* Returns the number of columns of a constant matrix; -1 for any other value. */
static int64_t n_columns(const struct matching *match, uint32_t value_id)
{
    const struct const_attrs *attrs = find_const(match, value_id);
    return attrs && attrs->shape.rank == 2 ? attrs->shape.dims[1] : -1;
}

/* Returns whether the op removes the sliced axis: a Squeeze, or a Reshape to [batch, input size]
 * that keeps the rows of X. */
static bool drops_axis(const struct matching *match, const struct op *op)
{
    int64_t items[4];
    uint32_t n;
    if (op->n_inputs != 2 || !graph_ints(match->graph, op_input(match->graph, op, 1), items, 4, &n))
        return false;
    if (op_is_type(op, "Squeeze"))
        return n == 1 && (items[0] == match->axis || items[0] == (int64_t)match->axis - 3);
    int64_t columns = n_columns(match, op_input(match->graph, match->cell, match->family->w));
    return op_is_type(op, "Reshape") && n == 2 && columns > 0 && items[1] == columns &&
           match->x_columns == columns;
}

/* Returns whether the op inserts the sliced axis again: an Unsqueeze, or a Reshape to [batch, 1,
 * hidden_size] or [1, batch, hidden_size]. */
static bool adds_axis(const struct matching *match, const struct op *op)
{
    int64_t items[4];
    uint32_t n;
    if (op->n_inputs != 2 || !graph_ints(match->graph, op_input(match->graph, op, 1), items, 4, &n))
        return false;
    if (op_is_type(op, "Unsqueeze"))
        return n == 1 && (items[0] == match->axis || items[0] == (int64_t)match->axis - 3);
    const struct recurrent_attrs *attrs = match->cell->attrs;
    return op_is_type(op, "Reshape") && n == 3 && items[match->axis] == 1 &&
           items[2] == attrs->hidden_size;
}

/* Returns whether slices of one position cover the whole axis, in either direction. */
static bool covers_all(const struct port_map *map)
{
    if (map->part_size != 1)
        return false;
    return map->stride == 1 ? map->start == 0 && map->end == -1
                            : map->stride == -1 && map->start == -1 && map->end == 0;
}

/* Returns the sliced axis of X or Y, which have 3 dimensions. */
static int64_t axis_of(const struct port_map *map)
{
    return map->axis < 0 ? map->axis + 3 : map->axis;
}

static bool match_x(struct matching *match)
{
    const struct op *drop = producer(match, op_input(match->graph, match->cell, match->family->x));
    if (drop->n_inputs != 2)
        return false;
    const struct op *parameter = producer(match, op_input(match->graph, drop, 0));
    if (parameter->def->role != ROLE_PARAMETER || back_edge_source(match, parameter) != NO_ID)
        return false;
    match->slices = map_of(match, parameter);
    if (!match->slices || !match->slices->has_axis || match->slices->external < 0 ||
        !covers_all(match->slices))
        return false;
    const struct parameter_attrs *attrs = parameter->attrs;
    if (attrs->shape.is_rank_dynamic || attrs->shape.rank != 3)
        return false;
    int64_t axis = axis_of(match->slices);
    if (axis != 0 && axis != 1)
        return false;
    match->axis = (uint32_t)axis;
    match->x_columns = attrs->shape.min[2] == attrs->shape.max[2] ? attrs->shape.max[2] : -1;
    match->found->is_time_first = axis == 0;
    match->found->is_reverse = match->slices->stride < 0;
    match->found->x = outer_value(match, match->slices);
    return drops_axis(match, drop);
}

/* Matches a state: a Parameter that takes its next value from output `output` of the cell. */
static bool match_state(struct matching *match, uint32_t input, uint32_t output, uint32_t *outer_id)
{
    const struct op *parameter = producer(match, op_input(match->graph, match->cell, input));
    if (parameter->def->role != ROLE_PARAMETER)
        return false;
    const struct port_map *map = map_of(match, parameter);
    uint32_t source_id = back_edge_source(match, parameter);
    if (!map || map->has_axis || map->external < 0 || source_id == NO_ID)
        return false;
    const struct op *result = &match->graph->ops[source_id];
    *outer_id = outer_value(match, map);
    return result->n_inputs == 1 &&
           op_input(match->graph, result, 0) == match->cell->first_output + output;
}

/* Matches a weight that is the same in every iteration. */
static bool match_weight(struct matching *match, uint32_t input, uint32_t *value_id)
{
    *value_id = NO_ID;
    if (input >= match->cell->n_inputs)
        return true;
    *value_id = op_input(match->graph, match->cell, input);
    const struct op *op = producer(match, *value_id);
    if (find_const(match, *value_id))
        return true;
    if (op->def->role != ROLE_PARAMETER)
        return false;
    const struct port_map *map = map_of(match, op);
    return map && !map->has_axis && map->external >= 0 && back_edge_source(match, op) == NO_ID;
}

static bool match_output(struct matching *match, const struct port_map *map)
{
    struct cell_loop *found = match->found;
    const struct op *result = &match->graph->ops[map->internal_id];
    if (result->def->role != ROLE_RESULT || result->n_inputs != 1 || map->external < 0)
        return false;
    uint32_t outer_id = match->op->first_output + (uint32_t)map->external;
    uint32_t value_id = op_input(match->graph, result, 0);
    uint32_t *found_id;
    if (map->has_axis) {
        const struct op *unsqueeze = producer(match, value_id);
        if (axis_of(map) != match->axis || map->stride != match->slices->stride ||
            !covers_all(map) || !adds_axis(match, unsqueeze) ||
            op_input(match->graph, unsqueeze, 0) != match->cell->first_output)
            return false;
        found_id = &found->y;
    } else if (value_id == match->cell->first_output) {
        found_id = &found->ho;
    } else if (match->family->c0 != NO_INPUT && value_id == match->cell->first_output + 1) {
        found_id = &found->co;
    } else {
        return false;
    }
    if (*found_id != NO_ID)
        return false;
    *found_id = outer_id;
    return true;
}

/* Returns the only recurrent op of the body; NULL if there is none or more than one. */
static const struct op *find_cell(const struct graph *graph)
{
    const struct op *cell = NULL;
    for (uint32_t i = 0; i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        if (op->def->prepare != recurrent_prepare)
            continue;
        if (cell)
            return NULL;
        cell = op;
    }
    return cell;
}

static bool match_cell(struct matching *match)
{
    match->cell = find_cell(match->graph);
    if (!match->cell)
        return false;
    match->family = match->cell->def->family;
    const struct recurrent_attrs *attrs = match->cell->attrs;
    bool has_peepholes = match->cell->n_inputs > match->family->p;
    enum { FICO = 0, IFCO = 2 }; /* ifco is treated as fico: see recurrent_attrs.c */
    bool is_fico = attrs->weights_format == FICO || attrs->weights_format == IFCO;
    return !match->family->is_sequence && !has_peepholes && !attrs->input_forget && is_fico;
}

/* Checks that every output is a value of the cell and that the body writes no variables, so that
 * the other ops of the body have no effect. */
static bool match_results(struct matching *match)
{
    const struct body *body = match->body;
    for (uint32_t i = 0; i < body->n_outputs; i++)
        if (!match_output(match, &body->outputs[i]))
            return false;
    for (uint32_t i = 0; i < match->graph->n_order; i++)
        if (match->graph->ops[match->graph->order[i]].def->role == ROLE_ASSIGN)
            return false;
    return true;
}

bool cell_loop_match(const struct graph *graph, uint32_t op_id, struct cell_loop *found)
{
    const struct op *op = &graph->ops[op_id];
    if (!op_is_type(op, "TensorIterator") || op->n_bodies != 1)
        return false;
    *found = (struct cell_loop){.op_id = op_id, .c0 = NO_ID, .y = NO_ID, .ho = NO_ID, .co = NO_ID};
    struct matching match = {.outer = graph,
                             .op = op,
                             .body = &op->bodies[0],
                             .graph = op->bodies[0].graph,
                             .found = found};
    if (!match_cell(&match) || !match_x(&match))
        return false;
    found->cell_id = (uint32_t)(match.cell - match.graph->ops);
    const struct recurrent_family *family = match.family;
    return match_state(&match, family->h0, 0, &found->h0) &&
           (family->c0 == NO_INPUT || match_state(&match, family->c0, 1, &found->c0)) &&
           match_weight(&match, family->w, &found->weights[0]) &&
           match_weight(&match, family->r, &found->weights[1]) &&
           match_weight(&match, family->b, &found->weights[2]) && match_results(&match);
}
