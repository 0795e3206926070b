/* --dot: prints the model as a graph for Graphviz.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DOT_H
#define IRRUN_CLI_DOT_H

#include "cli/profile.h"

/* Prints to standard output. Omits constants. Chains of element-wise ops are one node, and repeated
 * blocks are shown once with their count. Bodies are clusters; edges of variables are dashed. */
bool dot_print(struct irrun_model *model, struct irrun_error *err);

/* Does the same for the model of a run, and colors each node by its share of the time. The time
 * of a step counts for the node of its first op. */
bool dot_print_profile(const struct options *options, const struct profile *profile,
                       struct irrun_error *err);

#endif
