/* What passes over the graph tell the user who asks with -v: a line for each change.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_PLAN_NOTES_H
#define IRRUN_PLAN_PLAN_NOTES_H

#include "base/arena.h"

/* Grows in the arena of the graph. */
struct plan_notes {
    const char **items;
    size_t n;
};

bool plan_notes_add(struct plan_notes *notes, struct arena *arena, struct irrun_error *err,
                    const char *format, ...) PRINTF_LIKE(4, 5);

#endif
