/* Replaces TensorIterators around a single recurrent cell with sequence ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "ops/internal_ops.h"
#include "plan/cell_loop.h"
#include "plan/graph_edit.h"
#include "plan/passes.h"

/* Limits for one replacement. It adds at most 17 ops with 19 inputs and 19 outputs: a Const, a
 * Convert and an axis op for each of 3 weights, two axis ops for Y, one each for X, H0, C0, Ho and
 * Co, and the sequence op. */
#define MAX_NEW_OPS 24
#define MAX_NEW_INPUTS 40
#define MAX_NEW_VALUES 28

struct replacement {
    struct graph_edit edit;
    const struct cell_loop *loop;
    struct op op; /* a copy of the TensorIterator */
    struct irrun_error *err;
};

static const void *axis_attrs(struct replacement *r, int64_t axis)
{
    struct axis_attrs *attrs = arena_alloc(r->edit.arena, sizeof *attrs, r->err);
    if (attrs)
        attrs->axis = axis;
    return attrs;
}

/* Adds an op with one input and one output; returns the output. */
static uint32_t add_unary(struct replacement *r, const struct op_def *def, const void *attrs,
                          uint32_t in)
{
    uint32_t op_id = graph_edit_add(&r->edit, def, attrs, &r->op, &in, 1, 1);
    return r->edit.graph->ops[op_id].first_output;
}

static uint32_t add_axis_op(struct replacement *r, const struct op_def *def, int64_t axis,
                            uint32_t in)
{
    return add_unary(r, def, axis_attrs(r, axis), in);
}

/* Returns the value of the outer graph that replaces a weight of the body. Copies a Const and its
 * Convert to the outer graph; for a Parameter, returns the input of the TensorIterator. */
static uint32_t add_outer_value(struct replacement *r, uint32_t value_id)
{
    const struct body *body = &r->op.bodies[0];
    const struct op *op = value_producer(body->graph, value_id);
    if (op->def->role == ROLE_CONST) {
        uint32_t op_id = graph_edit_add(&r->edit, op->def, op->attrs, op, NULL, 0, 1);
        return r->edit.graph->ops[op_id].first_output;
    }
    if (op->def->role != ROLE_PARAMETER)
        return add_unary(r, op->def, op->attrs, add_outer_value(r, op_input(body->graph, op, 0)));
    const struct port_map *map = body_input_map(body, (uint32_t)(op - body->graph->ops));
    return op_input(r->edit.graph, &r->op, (uint32_t)map->external);
}

static const struct op_def *sequence_of(const struct op *cell)
{
    const struct recurrent_family *family = recurrent_family_of(cell);
    return family->kind == RECURRENT_LSTM  ? &op_lstm_over_time
           : family->kind == RECURRENT_GRU ? &op_gru_over_time
                                           : &op_rnn_over_time;
}

/* Replaces the output `outer_id` of the TensorIterator with `from`, without its direction axis. */
static void replace_output(struct replacement *r, uint32_t from, uint32_t outer_id,
                           bool is_sequence)
{
    if (outer_id == NO_ID)
        return;
    uint32_t value = add_axis_op(r, &op_drop_axis, 1, from);
    if (is_sequence && r->loop->is_time_first)
        value = add_unary(r, &op_swap_axes, NULL, value);
    graph_edit_take_over(&r->edit, r->edit.graph->values[value].op_id, outer_id);
}

static void replace_one(struct replacement *r)
{
    const struct cell_loop *loop = r->loop;
    const struct op *cell = &r->op.bodies[0].graph->ops[loop->cell_id];
    struct recurrent_attrs *attrs =
        arena_copy(r->edit.arena, cell->attrs, 1, sizeof *attrs, r->err);
    if (!attrs)
        return;
    attrs->direction = loop->is_reverse ? DIRECTION_REVERSE : DIRECTION_FORWARD;
    uint32_t inputs[6], n = 0;
    inputs[n++] = loop->is_time_first ? add_unary(r, &op_swap_axes, NULL, loop->x) : loop->x;
    inputs[n++] = add_axis_op(r, &op_insert_axis, 1, loop->h0);
    if (loop->c0 != NO_ID)
        inputs[n++] = add_axis_op(r, &op_insert_axis, 1, loop->c0);
    for (int i = 0; i < 3; i++)
        if (loop->weights[i] != NO_ID)
            inputs[n++] = add_axis_op(r, &op_insert_axis, 0, add_outer_value(r, loop->weights[i]));
    uint32_t n_outputs = loop->c0 != NO_ID ? 3 : 2;
    uint32_t op_id =
        graph_edit_add(&r->edit, sequence_of(cell), attrs, &r->op, inputs, n, n_outputs);
    uint32_t first = r->edit.graph->ops[op_id].first_output;
    replace_output(r, first, loop->y, true);
    replace_output(r, first + 1, loop->ho, false);
    if (loop->c0 != NO_ID)
        replace_output(r, first + 2, loop->co, false);
}

static bool replace_found(struct graph *graph, struct arena *arena, const struct cell_loop *found,
                          size_t n, struct remarks *remarks, struct irrun_error *err)
{
    struct replacement r = {.err = err};
    if (!graph_edit_begin(&r.edit, graph, arena, n * MAX_NEW_OPS, n * MAX_NEW_VALUES,
                          n * MAX_NEW_INPUTS, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        r.loop = &found[i];
        r.op = graph->ops[found[i].op_id];
        replace_one(&r);
        const struct op *cell = &r.op.bodies[0].graph->ops[found[i].cell_id];
        if (err->code != IRRUN_OK ||
            !remarks_add(
                remarks, arena, err,
                "TensorIterator \"%s\" (line %u) runs as one sequence op instead of a loop "
                "over its %s",
                r.op.name, (unsigned)r.op.line, cell->def->type))
            return false;
    }
    return toposort(graph, arena, err);
}

bool cell_loop_replace(struct graph *graph, struct arena *arena, struct remarks *remarks,
                       struct irrun_error *err)
{
    struct cell_loop *found = NULL;
    size_t n = 0, capacity = 0;
    bool is_done = true;
    for (uint32_t i = 0; is_done && i < graph->n_order; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        struct cell_loop candidate;
        for (uint32_t b = 0; is_done && b < op->n_bodies; b++)
            is_done = cell_loop_replace(op->bodies[b].graph, arena, remarks, err);
        if (!is_done || !cell_loop_match(graph, graph->order[i], &candidate))
            continue;
        is_done = GROW_ARRAY(found, n, capacity, err);
        if (is_done)
            found[n++] = candidate;
    }
    if (is_done && n > 0)
        is_done = replace_found(graph, arena, found, n, remarks, err);
    free(found);
    return is_done;
}
