/* Fills a struct irrun_error. Each failure is one statement: `return fail(err, IRRUN_DATA, "…");`
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_BASE_ERROR_H
#define IRRUN_BASE_ERROR_H

#include <stdarg.h>

#include "irrun.h"

#define PRINTF_LIKE(text_index, first) __attribute__((format(printf, text_index, first)))

/* A position in a text file. Line 0: the whole file; file NULL: no position. */
struct place {
    const char *file;
    uint32_t line, column;
};

static inline struct place whole_file(const char *file)
{
    return (struct place){file, 0, 0};
}

/* The names of the standard streams in messages. */
#define STANDARD_INPUT "standard input"
#define STANDARD_OUTPUT "standard output"

/* Initializes *err to "no error". */
void error_clear(struct irrun_error *err);

/* Records the error unless one is recorded already, and returns false. `err` is never NULL. */
bool fail(struct irrun_error *err, enum irrun_error_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);
bool fail_at(struct irrun_error *err, enum irrun_error_code code, struct place place,
             const char *format, ...) PRINTF_LIKE(4, 5);
bool fail_at_offset(struct irrun_error *err, enum irrun_error_code code, const char *file,
                    uint64_t offset, const char *format, ...) PRINTF_LIKE(5, 6);

/* Fails because size_bytes cannot be allocated; SIZE_MAX means that the size overflowed. */
bool fail_memory(struct irrun_error *err, size_t size_bytes);

/* Fails because a call on the file set errno to `reason`. The message is "what: reason". For ENOMEM
 * the code is IRRUN_SYSTEM. */
bool fail_errno(struct irrun_error *err, enum irrun_error_code code, const char *file,
                const char *what, int reason);

/* Adds a hint to the recorded error unless it has one already. Returns false. */
bool fail_hint(struct irrun_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Like fail_hint, but replaces an existing hint. */
bool replace_hint(struct irrun_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Appends text, such as a list of names, to the recorded message. Returns false. */
bool fail_append(struct irrun_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Formats the error as "file:line:column: error: message\n hint: ...\n", which editors can parse,
 * into `text`, and returns it. If the file is a standard stream or "", the text begins with
 * "irrun". Control characters are replaced by text_hide_controls. */
char *error_format(const struct irrun_error *err, char *text, size_t size_bytes);

#endif
