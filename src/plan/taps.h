/* Adds intermediate values of a graph as outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_TAPS_H
#define IRRUN_PLAN_TAPS_H

#include "graph/graph.h"

/* Adds a Result for each name: a tensor name, the name of a layer with one output, or LAYER:PORT.
 * Values that are outputs already get none. Must be called before toposort. Fails with IRRUN_USAGE
 * for a name that the graph does not have. */
bool taps_add(struct graph *graph, struct arena *arena, const char *const *names, size_t n_names,
              struct irrun_error *err);

/* Adds a Result for every output of a live op that has none, except those of Consts and of Assigns,
 * which return their input. Must be called after toposort, which must then be called again. */
bool taps_add_all(struct graph *graph, struct arena *arena, struct irrun_error *err);

#endif
