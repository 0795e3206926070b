/* Notes of passes over the graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool plan_notes_add(struct plan_notes *notes, struct arena *arena, struct irrun_error *err,
                    const char *format, ...)
{
    char text[256]; /* names that are longer are cut */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *line = arena_strdup(arena, text, err);
    if (!line)
        return false;
    if ((notes->n & (notes->n + 1)) == 0) {
        const char **items = arena_alloc_array(arena, 2 * notes->n + 1, sizeof *items, err);
        if (!items)
            return false;
        if (notes->n > 0)
            memcpy(items, notes->items, notes->n * sizeof *items);
        notes->items = items;
    }
    notes->items[notes->n++] = line;
    return true;
}
