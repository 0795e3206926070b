/* Adds ops to a graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/graph_edit.h"

#include <assert.h>
#include <string.h>

#include "base/checked.h"

/* Copies an array of n items, with room for n_more. */
static void *copy_array(struct arena *arena, const void *items, size_t n, size_t n_more,
                        size_t item_bytes, uint32_t *capacity, struct irrun_error *err)
{
    size_t wanted;
    if (!checked_add(n, n_more, &wanted) || wanted >= NO_ID) {
        fail_memory(err, SIZE_MAX);
        return NULL;
    }
    void *copy = arena_alloc_array(arena, wanted, item_bytes, err);
    if (copy && n > 0)
        memcpy(copy, items, n * item_bytes);
    *capacity = (uint32_t)wanted;
    return copy;
}

bool graph_edit_begin(struct graph_edit *edit, struct graph *graph, struct arena *arena,
                      size_t n_ops, size_t n_values, size_t n_inputs, struct irrun_error *err)
{
    *edit = (struct graph_edit){.graph = graph, .arena = arena};
    struct op *ops =
        copy_array(arena, graph->ops, graph->n_ops, n_ops, sizeof *ops, &edit->ops_capacity, err);
    struct value *values = copy_array(arena, graph->values, graph->n_values, n_values,
                                      sizeof *values, &edit->values_capacity, err);
    uint32_t *inputs = copy_array(arena, graph->input_ids, graph->n_input_ids, n_inputs,
                                  sizeof *inputs, &edit->inputs_capacity, err);
    if (!ops || !values || !inputs)
        return false;
    graph->ops = ops;
    graph->values = values;
    graph->input_ids = inputs;
    return true;
}

uint32_t graph_edit_add(struct graph_edit *edit, const struct op_def *def, const void *attrs,
                        const struct op *like, const uint32_t *inputs, uint32_t n_inputs,
                        uint32_t n_outputs)
{
    struct graph *graph = edit->graph;
    assert(graph->n_ops < edit->ops_capacity);
    assert(graph->n_input_ids + n_inputs <= edit->inputs_capacity);
    assert(graph->n_values + n_outputs <= edit->values_capacity);
    uint32_t op_id = graph->n_ops++;
    graph->ops[op_id] = (struct op){.def = def,
                                    .name = like->name,
                                    .version = like->version,
                                    .attrs = attrs,
                                    .n_inputs = n_inputs,
                                    .first_input = graph->n_input_ids,
                                    .n_outputs = n_outputs,
                                    .first_output = graph->n_values,
                                    .line = like->line,
                                    .column = like->column};
    if (n_inputs > 0)
        memcpy(graph->input_ids + graph->n_input_ids, inputs, n_inputs * sizeof *inputs);
    graph->n_input_ids += n_inputs;
    for (uint32_t k = 0; k < n_outputs; k++)
        graph->values[graph->n_values++] = (struct value){.op_id = op_id, .port = k};
    return op_id;
}

void graph_edit_take_over(struct graph_edit *edit, uint32_t op_id, uint32_t value_id)
{
    struct graph *graph = edit->graph;
    graph->ops[op_id].first_output = value_id;
    graph->ops[op_id].n_outputs = 1;
    graph->values[value_id].op_id = op_id;
}

void graph_edit_extend(struct graph_edit *edit, uint32_t op_id, uint32_t n_outputs)
{
    struct graph *graph = edit->graph;
    struct op *op = &graph->ops[op_id];
    uint32_t old = op->first_output, n_old = op->n_outputs, first = graph->n_values;
    assert(first + n_outputs <= edit->values_capacity);
    for (uint32_t k = 0; k < n_outputs; k++)
        graph->values[first + k] =
            k < n_old ? graph->values[old + k] : (struct value){.op_id = op_id, .port = k};
    for (uint32_t i = 0; i < graph->n_input_ids; i++)
        if (graph->input_ids[i] >= old && graph->input_ids[i] < old + n_old)
            graph->input_ids[i] += first - old;
    graph->n_values += n_outputs;
    op->first_output = first;
    op->n_outputs = n_outputs;
}

uint32_t *graph_count_uses(const struct graph *graph, struct arena *arena, struct irrun_error *err)
{
    uint32_t *n_uses = arena_alloc_array(arena, graph->n_values, sizeof *n_uses, err);
    for (uint32_t i = 0; i < graph->n_order && n_uses; i++) {
        const struct op *op = &graph->ops[graph->order[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            n_uses[op_input(graph, op, k)]++;
    }
    return n_uses;
}
