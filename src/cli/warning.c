/* One line at a time on standard error; decides nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/warning.h"

#include <stdio.h>

static void print_line(const char *prefix, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void print_line(const char *prefix, const char *format, va_list args)
{
    char line[1024];
    vsnprintf(line, sizeof line, format, args);
    fprintf(stderr, "irrun: %s%s\n", prefix, line);
}

void warn(const struct options *options, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!options->is_quiet)
        print_line("warning: ", format, args);
    va_end(args);
}

void tell(const struct options *options, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (options->is_verbose)
        print_line("", format, args);
    va_end(args);
}
