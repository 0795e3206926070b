/* Makes the states of recurrent ops variables and opens the time axis, so that a model of whole
 * sequences runs one chunk of frames per iteration, with the same results.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_LOW_LATENCY_H
#define IRRUN_PLAN_LOW_LATENCY_H

#include "graph/graph.h"
#include "plan/remarks.h"

/* Changes the graph, sorts it again, and adds a line to *remarks for each op. names: "A,B", or ""
 * for all recurrent ops. Fails with IRRUN_USAGE for a name that is not that of such an op, and with
 * IRRUN_UNSUPPORTED and the names of the ops if results would change, or if there is nothing to do.
 * The graph must be sorted, its ops supported and the .bin open. */
bool low_latency_apply(struct graph *graph, struct arena *arena, const char *names,
                       struct remarks *remarks, struct irrun_error *err);

/* Returns whether low_latency_apply would succeed for all recurrent ops. */
bool low_latency_fits(struct graph *graph, struct arena *arena);

#endif
