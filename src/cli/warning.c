/* One line at a time on standard error; decides nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/warning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024

void warnings_init(struct warnings *warnings)
{
    *warnings = (struct warnings){.n = 0};
    pthread_mutex_init(&warnings->lock, NULL);
}

void warnings_free(struct warnings *warnings)
{
    for (size_t i = 0; i < warnings->n; i++)
        free(warnings->texts[i]);
    free(warnings->texts);
    pthread_mutex_destroy(&warnings->lock);
}

/* Whether the text is new. Without memory for it, it is. */
static bool remember(struct warnings *warnings, const char *text)
{
    struct irrun_error ignored;
    error_clear(&ignored);
    for (size_t i = 0; i < warnings->n; i++) {
        if (strcmp(warnings->texts[i], text) == 0)
            return false;
    }
    char *copy = strdup(text);
    if (copy && grow_array((void **)&warnings->texts, warnings->n, &warnings->capacity,
                           sizeof(char *), &ignored))
        warnings->texts[warnings->n++] = copy;
    else
        free(copy);
    return true;
}

void warn(const struct options *options, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pthread_mutex_lock(&options->warnings->lock);
    bool is_new = remember(options->warnings, line);
    pthread_mutex_unlock(&options->warnings->lock);
    if (is_new && !options->is_quiet)
        fprintf(stderr, "irrun: warning: %s\n", line);
}

void tell(const struct options *options, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    if (!options->is_verbose)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "irrun: %s\n", line);
}
