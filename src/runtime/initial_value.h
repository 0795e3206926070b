/* Finds the initial value of a variable in the weights.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_INITIAL_VALUE_H
#define IRRUN_RUNTIME_INITIAL_VALUE_H

#include "base/file.h"
#include "graph/graph.h"

/* Finds the number that all elements of value `id` have, and writes it as text in the arena. *text
 * is NULL unless the value is a Const, or a Convert of one, whose bytes are in `weights`. */
bool initial_value_find(const struct graph *graph, uint32_t id, const struct file_map *weights,
                        struct arena *arena, const char **text, struct irrun_error *err);

#endif
