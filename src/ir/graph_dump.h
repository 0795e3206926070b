/* A graph as text: every op, attribute, edge and body, for comparing what two ways of reading made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_IR_GRAPH_DUMP_H
#define IRRUN_IR_GRAPH_DUMP_H

#include "base/text.h"
#include "graph/graph.h"

/* Two graphs give the same text exactly if they hold the same. Out of memory: text->is_broken. */
void graph_dump(const struct graph *graph, struct text *text);

#endif
