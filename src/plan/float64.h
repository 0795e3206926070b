/* Makes a graph compute in f64, as a reference with almost no rounding errors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_FLOAT64_H
#define IRRUN_PLAN_FLOAT64_H

#include "graph/graph.h"

/* Turns every f16, bf16 and f32 value of the graph and of its bodies into f64. Parameters of the
 * graph and Consts keep their types; a Convert follows each. Call toposort before and
 * after. */
bool float64_widen(struct graph *graph, struct arena *arena, struct irrun_error *err);

#endif
