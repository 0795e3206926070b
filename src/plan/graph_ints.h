/* Reads short lists of integers (axes, orders, sizes) and single numbers from Consts of a graph.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_GRAPH_INTS_H
#define IRRUN_PLAN_GRAPH_INTS_H

#include "graph/graph.h"

/* Reads a Const of 1 to `max` numbers of i32 or i64. Returns false for any other value. The Const
 * must have been checked against the .bin. */
bool graph_ints(const struct graph *graph, uint32_t value_id, int64_t *items, uint32_t max,
                uint32_t *n);

/* Reads the number and the shape of a Const of one float, directly or through a Convert from f16 or
 * bf16 to f32. */
bool graph_number(const struct graph *graph, uint32_t value_id, double *number,
                  struct irrun_shape *shape);

#endif
