/* Messages of graph passes for -v, one line for each change.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_REMARKS_H
#define IRRUN_PLAN_REMARKS_H

#include "base/arena.h"

/* A list that grows in the arena of the graph. */
struct remarks {
    const char **items;
    size_t n;
};

bool remarks_add(struct remarks *remarks, struct arena *arena, struct irrun_error *err,
                 const char *format, ...) PRINTF_LIKE(4, 5);

#endif
