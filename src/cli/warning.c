/* Prints whole lines to standard error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/warning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024
#define MAX_KEPT 1000 /* a run may warn about each of its sequences */

#define RED "\033[1;31m"
#define YELLOW "\033[1;33m"
#define PLAIN "\033[0m"
#define CLEAR_LINE "\r\033[K"

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

bool warning_is_terminal(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool is_plain = (no_color && *no_color) || !term || strcmp(term, "dumb") == 0;
    return !is_plain && isatty(STDERR_FILENO);
}

static bool uses_color(const struct options *options)
{
    return options->color == COLOR_ALWAYS ||
           (options->color == COLOR_AUTO && warning_is_terminal());
}

/* Prints with a single call, so that lines of several processes are not mixed. The caller holds the
 * lock. */
static void print_text(struct warnings *warnings, const char *text)
{
    fprintf(stderr, "%s%s", warnings->has_line ? CLEAR_LINE : "", text);
    warnings->has_line = false;
}

/* Returns whether the text is new, and stores it, unless MAX_KEPT texts are stored. */
static bool store_if_new(struct warnings *warnings, const char *text)
{
    struct irrun_error ignored = {.code = IRRUN_OK};
    for (size_t i = 0; i < warnings->n; i++)
        if (strcmp(warnings->texts[i], text) == 0)
            return false;
    if (warnings->n == MAX_KEPT)
        return true;
    char *copy = strdup(text);
    if (copy && GROW_ARRAY(warnings->texts, warnings->n, warnings->capacity, &ignored))
        warnings->texts[warnings->n++] = copy;
    else
        free(copy);
    return true;
}

void warn(const struct options *options, const char *format, ...)
{
    char message[LINE_BYTES], line[LINE_BYTES + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    text_hide_controls(message);
    bool has_color = uses_color(options);
    snprintf(line, sizeof line, "irrun: %swarning:%s %s\n", has_color ? YELLOW : "",
             has_color ? PLAIN : "", message);
    pthread_mutex_lock(&options->warnings->lock);
    if (store_if_new(options->warnings, message) && !options->is_quiet)
        print_text(options->warnings, line);
    pthread_mutex_unlock(&options->warnings->lock);
}

void inform(const struct options *options, const char *format, ...)
{
    char message[LINE_BYTES], line[LINE_BYTES + 16];
    va_list args;
    if (!options->is_verbose)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    text_hide_controls(message);
    snprintf(line, sizeof line, "irrun: %s\n", message);
    pthread_mutex_lock(&options->warnings->lock);
    print_text(options->warnings, line);
    pthread_mutex_unlock(&options->warnings->lock);
}

void warning_show_error(const struct options *options, const struct irrun_error *err)
{
    static const char mark[] = ": error: ";
    char text[sizeof err->file + sizeof err->message + sizeof err->hint + 128];
    error_format(err, text, sizeof text);
    const char *found = uses_color(options) ? strstr(text, mark) : NULL;
    if (found)
        fprintf(stderr, "%.*s: " RED "error:" PLAIN " %s", (int)(found - text), text,
                found + sizeof mark - 1);
    else
        fputs(text, stderr);
}

void warning_show_progress(const struct options *options, const char *text, bool is_plain)
{
    struct warnings *warnings = options->warnings;
    pthread_mutex_lock(&warnings->lock);
    if (is_plain) {
        if (text)
            fprintf(stderr, "%s\n", text);
    } else {
        print_text(warnings, text ? text : "");
        warnings->has_line = text != NULL;
        if (text)
            fflush(stderr);
    }
    pthread_mutex_unlock(&warnings->lock);
}
