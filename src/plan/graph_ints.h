/* Short lists of integers that are Consts of a graph: axes, orders, sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_GRAPH_INTS_H
#define IRRUN_PLAN_GRAPH_INTS_H

#include "graph/graph.h"

/* Reads a value that is a Const of 1 to `most` numbers of i32 or i64; else false. The Const was
 * checked against the .bin. */
bool graph_ints(const struct graph *graph, uint32_t value_id, int64_t *items, uint32_t most,
                uint32_t *n);

#endif
