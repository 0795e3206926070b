/* Adds ops to a graph, for passes that replace ops.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_GRAPH_EDIT_H
#define IRRUN_PLAN_GRAPH_EDIT_H

#include "ops/op.h"

/* A graph with room at the end of its arrays. */
struct graph_edit {
    struct graph *graph;
    struct arena *arena;
    uint32_t ops_capacity, values_capacity, inputs_capacity;
};

/* Reserves room for more ops, values and inputs. Pointers into graph->ops are invalid
 * afterwards. */
bool graph_edit_begin(struct graph_edit *edit, struct graph *graph, struct arena *arena,
                      size_t n_ops, size_t n_values, size_t n_inputs, struct irrun_error *err);

/* Adds an op with `n_inputs` inputs and new values for its outputs, and returns its id. The op gets
 * the name, version and place of `like`. graph_edit_begin must have reserved the room. */
uint32_t graph_edit_add(struct graph_edit *edit, const struct op_def *def, const void *attrs,
                        const struct op *like, const uint32_t *inputs, uint32_t n_inputs,
                        uint32_t n_outputs);

/* Makes an existing value, until now an output of a different op, the only output of op `op_id`. */
void graph_edit_take_over(struct graph_edit *edit, uint32_t op_id, uint32_t value_id);

/* Returns an array in the arena: for each value, the number of inputs of ops that read it. Returns
 * NULL with *err filled on failure. */
uint32_t *graph_count_uses(const struct graph *graph, struct arena *arena, struct irrun_error *err);

/* Gives op `op_id` more outputs, `n_outputs` in total. All outputs become new values, which
 * replace the old ones in all inputs. graph_edit_begin must have reserved the room. */
void graph_edit_extend(struct graph_edit *edit, uint32_t op_id, uint32_t n_outputs);

#endif
