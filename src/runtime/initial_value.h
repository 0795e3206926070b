/* What a variable begins with, as far as a look at the weights tells.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_INITIAL_VALUE_H
#define IRRUN_RUNTIME_INITIAL_VALUE_H

#include "base/file.h"
#include "graph/graph.h"

/* The number that all elements of value `id` have, if it is a Const, converted or not, whose bytes
 * are in `weights`; in the arena. *text is NULL if it is nothing of that kind. */
bool initial_value_find(const struct graph *graph, uint32_t id, const struct file_map *weights,
                        struct arena *arena, const char **text, struct irrun_error *err);

#endif
