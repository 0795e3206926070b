/* A Transpose of the last two dimensions in front of a product's second factor is a product with
 * the transposed factor: nothing need be moved.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TRANSPOSED_FACTORS_H
#define IRRUN_PLAN_TRANSPOSED_FACTORS_H

#include "graph/graph.h"
#include "plan/remarks.h"

/* Rewrites all MatMuls of which that is true, in the graph and in every body, and makes the order
 * of a graph that changed again. *remarks gets a line for each. */
bool transposed_factors_fold(struct graph *graph, struct arena *arena, struct remarks *remarks,
                             struct irrun_error *err);

#endif
