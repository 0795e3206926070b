/* Records the first error of a call chain, and formats it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Removes an incomplete UTF-8 character from the end of a truncated text. */
static void trim_partial_character(char *text)
{
    size_t length = strlen(text);
    size_t start = length;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t n_following = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    if (length - start < n_following)
        text[start - 1] = '\0';
}

static void append_v(char *text, size_t size_bytes, const char *format, va_list args)
{
    size_t length = strlen(text);
    int n_wanted = vsnprintf(text + length, size_bytes - length, format, args);
    if (n_wanted < 0)
        text[length] = '\0';
    else if ((size_t)n_wanted >= size_bytes - length)
        trim_partial_character(text);
}

/* Copies a file name. If it is too long, keeps its end, which is more specific than its start. */
static void copy_file_name(char *target, size_t size_bytes, const char *file)
{
    static const char mark[] = "...";
    size_t length = strlen(file);
    if (length < size_bytes) {
        memcpy(target, file, length + 1);
        return;
    }
    const char *tail = file + length - (size_bytes - sizeof mark);
    while (((unsigned char)*tail & 0xC0) == 0x80)
        tail++;
    memcpy(target, mark, sizeof mark - 1);
    memcpy(target + sizeof mark - 1, tail, strlen(tail) + 1);
}

void error_clear(struct irrun_error *err)
{
    err->code = IRRUN_OK;
    err->file[0] = '\0';
    err->line = 0;
    err->column = 0;
    err->offset = UINT64_MAX;
    err->message[0] = '\0';
    err->hint[0] = '\0';
}

static bool fail_at_v(struct irrun_error *err, enum irrun_error_code code, struct place place,
                      const char *format, va_list args)
{
    if (err->code != IRRUN_OK)
        return false;
    error_clear(err);
    err->code = code;
    if (place.file)
        copy_file_name(err->file, sizeof err->file, place.file);
    err->line = place.line;
    err->column = place.column;
    append_v(err->message, sizeof err->message, format, args);
    return false;
}

bool fail(struct irrun_error *err, enum irrun_error_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_at_v(err, code, (struct place){NULL, 0, 0}, format, args);
    va_end(args);
    return false;
}

bool fail_at(struct irrun_error *err, enum irrun_error_code code, struct place place,
             const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_at_v(err, code, place, format, args);
    va_end(args);
    return false;
}

bool fail_at_offset(struct irrun_error *err, enum irrun_error_code code, const char *file,
                    uint64_t offset, const char *format, ...)
{
    if (err->code != IRRUN_OK)
        return false;
    va_list args;
    va_start(args, format);
    fail_at_v(err, code, whole_file(file), format, args);
    va_end(args);
    err->offset = offset;
    return false;
}

bool fail_memory(struct irrun_error *err, size_t size_bytes)
{
    if (size_bytes == SIZE_MAX)
        return fail(err, IRRUN_SYSTEM, "out of memory: cannot allocate more than 2^%zu bytes",
                    8 * sizeof size_bytes);
    return fail(err, IRRUN_SYSTEM, "out of memory: cannot allocate %zu bytes", size_bytes);
}

bool fail_errno(struct irrun_error *err, enum irrun_error_code code, const char *file,
                const char *what, int reason)
{
    return fail_at(err, reason == ENOMEM ? IRRUN_SYSTEM : code, whole_file(file), "%s: %s", what,
                   strerror(reason));
}

bool fail_hint(struct irrun_error *err, const char *format, ...)
{
    if (err->code == IRRUN_OK || err->hint[0] != '\0')
        return false;
    va_list args;
    va_start(args, format);
    append_v(err->hint, sizeof err->hint, format, args);
    va_end(args);
    return false;
}

bool replace_hint(struct irrun_error *err, const char *format, ...)
{
    if (err->code == IRRUN_OK)
        return false;
    va_list args;
    va_start(args, format);
    err->hint[0] = '\0';
    append_v(err->hint, sizeof err->hint, format, args);
    va_end(args);
    return false;
}

bool fail_append(struct irrun_error *err, const char *format, ...)
{
    if (err->code == IRRUN_OK)
        return false;
    va_list args;
    va_start(args, format);
    append_v(err->message, sizeof err->message, format, args);
    va_end(args);
    return false;
}

PRINTF_LIKE(3, 4)
static void append(char *text, size_t size_bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_v(text, size_bytes, format, args);
    va_end(args);
}

char *error_format(const struct irrun_error *err, char *text, size_t size_bytes)
{
    if (size_bytes == 0)
        return text;
    text[0] = '\0';
    bool is_stream = strncmp(err->file, STANDARD_INPUT, strlen(STANDARD_INPUT)) == 0 ||
                     strcmp(err->file, STANDARD_OUTPUT) == 0;
    if (!err->file[0] || is_stream)
        append(text, size_bytes, "irrun%s", is_stream ? ": " : "");
    append(text, size_bytes, "%s", err->file);
    if (err->line != 0)
        append(text, size_bytes, ":%" PRIu32, err->line);
    if (err->line != 0 && err->column != 0)
        append(text, size_bytes, ":%" PRIu32, err->column);
    if (err->file[0] && err->offset != UINT64_MAX)
        append(text, size_bytes, ": byte %" PRIu64, err->offset);
    append(text, size_bytes, ": error: %s\n", err->message);
    if (err->hint[0])
        append(text, size_bytes, "  hint: %s\n", err->hint);
    text_hide_controls(text);
    return text;
}
