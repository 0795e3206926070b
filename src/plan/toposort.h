/* What of a graph is needed, and in which order it can run. Knows nothing of shapes or values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TOPOSORT_H
#define IRRUN_PLAN_TOPOSORT_H

#include "graph/graph.h"

/* Sets order and n_order of the graph and of the bodies of its live ops. The order: all Parameters
 * as the document has them (they are inputs of the model even if nothing reads them), then whatever
 * a Result or an Assign needs, found depth first from these in document order, inputs from the
 * first to the last. An Assign needs the ReadValues of its variable. A layer that irrun lacks
 * counts as what its type says. Fails with IRRUN_DATA on a cycle and names two of its layers. */
bool toposort(struct graph *graph, struct arena *arena, struct irrun_error *err);

#endif
