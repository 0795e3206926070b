/* The initial value of a variable, if the weights show it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_INITIAL_VALUE_H
#define IRRUN_RUNTIME_INITIAL_VALUE_H

#include "base/file.h"
#include "graph/graph.h"

/* The number that all elements of value `id` have, as text in the arena, if it is a Const
 * (converted or not) whose bytes are in `weights`; else *text is NULL. */
bool initial_value_find(const struct graph *graph, uint32_t id, const struct file_map *weights,
                        struct arena *arena, const char **text, struct irrun_error *err);

#endif
