/* Collects the remarks of passes over the graph, which -v prints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/passes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool remarks_add(struct remarks *remarks, struct arena *arena, struct irrun_error *err,
                 const char *format, ...)
{
    char text[256]; /* longer names are truncated */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *line = arena_strdup(arena, text, err);
    if (!line)
        return false;
    if ((remarks->n & (remarks->n + 1)) == 0) {
        const char **items = arena_alloc_array(arena, 2 * remarks->n + 1, sizeof *items, err);
        if (!items)
            return false;
        if (remarks->n > 0)
            memcpy(items, remarks->items, remarks->n * sizeof *items);
        remarks->items = items;
    }
    remarks->items[remarks->n++] = line;
    return true;
}
