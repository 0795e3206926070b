/* Finds the ops of a graph that are needed, and an order to run them in. Independent of shapes and
 * values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TOPOSORT_H
#define IRRUN_PLAN_TOPOSORT_H

#include "graph/graph.h"

/* Sets order and n_order of the graph and of the bodies of its live ops. The order: all Parameters
 * in document order (they are inputs of the model even if nothing reads them), then all ops that a
 * Result or an Assign depends on, by depth-first search from these in document order, visiting
 * inputs from the first to the last. An Assign needs the ReadValues of its variable. The type of an
 * unsupported layer determines its role. Fails with IRRUN_DATA on a cycle and names two of its
 * layers. */
bool toposort(struct graph *graph, struct arena *arena, struct irrun_error *err);

#endif
