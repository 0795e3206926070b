/* Finds the ops of a graph that are needed and an order to run them in. Shapes and values do not
 * matter.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TOPOSORT_H
#define IRRUN_PLAN_TOPOSORT_H

#include "graph/graph.h"

/* Sets order and n_order of the graph and of the bodies of its live ops. First come all Parameters
 * in document order (they are inputs of the model even if nothing reads them). All ops that a
 * Result or an Assign depends on follow, by depth-first search from these in document order,
 * visiting inputs from first to last. An Assign depends on the ReadValues of its variable. The
 * type of an unsupported layer decides whether it is a Parameter, Result or Assign. Fails with
 * IRRUN_DATA on a cycle and names two of its layers. */
bool toposort(struct graph *graph, struct arena *arena, struct irrun_error *err);

#endif
