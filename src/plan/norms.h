/* Recognizes normalizations that are written out: (x - mean) / sqrt(variance + eps), as in MVN, and
 * x / sqrt(mean square + eps). eps may also be added to the root, and the division may be a product
 * with the inverse.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_NORMS_H
#define IRRUN_PLAN_NORMS_H

#include "graph/graph.h"
#include "plan/remarks.h"

/* Replaces the last op of each with op_norm, in the graph and in every body, and sorts changed
 * graphs again. Adds a line to *remarks for each. */
bool norms_replace(struct graph *graph, struct arena *arena, struct remarks *remarks,
                   struct irrun_error *err);

#endif
