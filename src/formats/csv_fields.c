/* Splits a line of csv into fields, and compares headings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/csv_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define FIELD_BYTES 64 /* of a heading in a hint */

/* Returns the quote that ends a field which begins with one, or the end of the line. */
static const char *find_closing_quote(const char *at, const char *end)
{
    for (at++; at < end && (*at != '"' || (at + 1 < end && at[1] == '"')); at++)
        at += *at == '"';
    return at;
}

struct field csv_field_next(struct field *rest, char separator)
{
    struct field field = *rest;
    const char *end = field.start + field.length, *at = field.start;
    if (field.length > 0 && *at == '"')
        at = find_closing_quote(at, end);
    const char *next = at < end ? memchr(at, separator, (size_t)(end - at)) : NULL;
    *rest = next ? (struct field){next + 1, (size_t)(end - next) - 1} : (struct field){NULL, 0};
    field.length = (size_t)((next ? next : end) - field.start);
    while (field.length > 0 && text_is_blank(field.start[field.length - 1]))
        field.length--;
    for (; field.length > 0 && text_is_blank(*field.start); field.length--)
        field.start++;
    return field;
}

bool csv_has_open_quote(struct field line)
{
    const char *end = line.start + line.length;
    if (!memchr(line.start, '"', line.length))
        return false;
    while (line.start) {
        if (line.length > 0 && *line.start == '"' && find_closing_quote(line.start, end) >= end)
            return true;
        csv_field_next(&line, ',');
    }
    return false;
}

/* Removes the quotes around a field and returns whether there were any. Inside them, two quotes
 * mean one. */
static bool remove_quotes(struct field *field)
{
    bool is_quoted =
        field->length > 1 && field->start[0] == '"' && field->start[field->length - 1] == '"';
    field->start += is_quoted;
    field->length -= is_quoted ? 2 : 0;
    return is_quoted;
}

static void skip_character(struct field *field, bool is_quoted)
{
    size_t n = is_quoted && field->length > 1 && memcmp(field->start, "\"\"", 2) == 0 ? 2 : 1;
    field->start += n;
    field->length -= n;
}

bool csv_field_equals(struct field heading, struct field name)
{
    bool heading_is_quoted = remove_quotes(&heading), name_is_quoted = remove_quotes(&name);
    while (heading.length > 0 && name.length > 0 && *heading.start == *name.start) {
        skip_character(&heading, heading_is_quoted);
        skip_character(&name, name_is_quoted);
    }
    return heading.length == 0 && name.length == 0;
}

/* Copies a field without its quotes, shortened to fit. */
static void copy_field(struct field field, char text[FIELD_BYTES])
{
    remove_quotes(&field);
    snprintf(text, FIELD_BYTES, "%.*s", (int)field.length, field.start);
}

void csv_separator_hint(struct field line, struct irrun_error *err)
{
    if (memchr(line.start, ';', line.length))
        fail_hint(err, "columns are separated by commas or tabs: tr ';' ',' <FILE | "
                       "irrun ... -i csv:-");
}

bool csv_field_hint(struct field line, char separator, struct field name, struct irrun_error *err)
{
    char wanted[FIELD_BYTES], heading[FIELD_BYTES], near[FIELD_BYTES] = "";
    unsigned limit = name.length > 2 ? 2 : (unsigned)name.length - (name.length > 0);
    bool has_headings = false;
    double number;
    if (!memchr(line.start, separator, line.length))
        csv_separator_hint(line, err);
    copy_field(name, wanted);
    for (struct field rest = line; rest.start;) {
        copy_field(csv_field_next(&rest, separator), heading);
        has_headings |= !text_to_f64(heading, strlen(heading), &number);
        unsigned distance =
            text_equals_ignore_case(wanted, heading) ? 0 : text_distance(wanted, heading, limit);
        if (distance > limit || (distance > 1 && wanted[0] != heading[0]))
            continue;
        memcpy(near, heading, sizeof near);
        limit = distance - (distance > 0);
    }
    int n_shown = (int)(line.length < 800 ? line.length : 800);
    if (!has_headings)
        return fail_hint(err,
                         "the first line has numbers, not headings: %.*s; --columns=0,... takes "
                         "columns by number",
                         n_shown, line.start);
    return fail_hint(err, "%s%s%sthe columns are %.*s", near[0] ? "did you mean " : "", near,
                     near[0] ? "? " : "", n_shown, line.start);
}
