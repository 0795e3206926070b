/* Folds a Transpose of the last two dimensions of a product's second factor into the product, so
 * that no elements are moved.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TRANSPOSED_FACTORS_H
#define IRRUN_PLAN_TRANSPOSED_FACTORS_H

#include "graph/graph.h"
#include "plan/remarks.h"

/* Rewrites all such MatMuls, in the graph and in every body, and sorts changed graphs again. Adds a
 * line to *remarks for each. */
bool transposed_factors_fold(struct graph *graph, struct arena *arena, struct remarks *remarks,
                             struct irrun_error *err);

#endif
