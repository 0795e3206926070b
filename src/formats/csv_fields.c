/* Splits a line of csv into fields, and compares headings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/csv_fields.h"

#include <stdio.h>
#include <string.h>

#include "formats/kept_columns.h"

#define FIELD_BYTES 64 /* size of a heading in a hint */

/* Returns the quote that closes the one at `at`, or the end of the line. */
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

char csv_find_separator(struct field line)
{
    size_t n_tabs = 0, n_commas = 0;
    while (line.start) {
        struct field part = csv_field_next(&line, '\t');
        n_tabs += line.start != NULL;
        while (part.start) {
            csv_field_next(&part, ',');
            n_commas += part.start && (part.length == 0 || *part.start != ' ');
        }
    }
    return n_tabs > n_commas ? '\t' : ',';
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

bool csv_remove_quotes(struct field *field)
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
    bool heading_is_quoted = csv_remove_quotes(&heading), name_is_quoted = csv_remove_quotes(&name);
    while (heading.length > 0 && name.length > 0 && *heading.start == *name.start) {
        skip_character(&heading, heading_is_quoted);
        skip_character(&name, name_is_quoted);
    }
    return heading.length == 0 && name.length == 0;
}

size_t csv_count_fields(struct field line, char separator)
{
    size_t n = 0;
    if (!memchr(line.start, '"', line.length)) {
        for (size_t i = 0; i < line.length; i++)
            n += line.start[i] == separator;
        return n + 1;
    }
    for (; line.start; n++)
        csv_field_next(&line, separator);
    return n;
}

size_t csv_find_columns(struct field line, char separator, struct field name, size_t found[2])
{
    size_t n = 0;
    found[0] = 0;
    for (size_t i = 0; line.start; i++) {
        struct field heading = csv_field_next(&line, separator);
        bool is_found = csv_field_equals(heading, name);
        if (i == 0 && !is_found && heading.length > 0 && *heading.start == '#') {
            struct field bare = {heading.start + 1, heading.length - 1};
            is_found = csv_field_equals(csv_field_next(&bare, '\0'), name);
        }
        if (is_found && n < 2)
            found[n] = i;
        n += is_found;
    }
    return n;
}

/* Copies a field without its quotes, shortened to fit. */
static void copy_field(struct field field, char text[FIELD_BYTES])
{
    csv_remove_quotes(&field);
    snprintf(text, FIELD_BYTES, "%.*s", (int)field.length, field.start);
}

const char *csv_column_word(struct field heading, char out[TEXT_QUOTED_BYTES])
{
    char word[4 * FIELD_BYTES];
    bool is_quoted = csv_remove_quotes(&heading);
    bool needs_quotes = memchr(heading.start, ',', heading.length) ||
                        (is_quoted && memchr(heading.start, '"', heading.length));
    size_t max_length = sizeof word - 3;
    int length = (int)(heading.length < max_length ? heading.length : max_length);
    const char *quote = needs_quotes ? "\"" : "";
    snprintf(word, sizeof word, "%s%.*s%s", quote, length, heading.start, quote);
    if (text_shell_quote(word, out) == word)
        strcpy(out, word);
    return out;
}

struct field csv_find_heading(struct field text, size_t n_word, bool *is_column)
{
    const char *end = memchr(text.start, '\n', text.length);
    struct field line = {text.start, end ? (size_t)(end - text.start) : text.length};
    struct field below = {end ? end + 1 : NULL, end ? text.length - line.length - 1 : 0};
    const char *last = end ? memchr(below.start, '\n', below.length) : NULL;
    const char separator = csv_find_separator(line);
    const struct field first = csv_field_next(&line, separator);
    struct field heading = first, bare = first;
    double number;
    *is_column = first.length == n_word || csv_remove_quotes(&bare) || line.start;
    below.length = last ? (size_t)(last - below.start) : 0;
    while (last && below.start && heading.start) {
        struct field value = csv_field_next(&below, separator);
        csv_remove_quotes(&value);
        if (text_to_f64(value.start, value.length, &number))
            return heading;
        heading = line.start ? csv_field_next(&line, separator) : line;
    }
    return first;
}

void csv_number_columns(struct field line, char separator, char out[CSV_NUMBERS_BYTES])
{
    double number;
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; line.start && length < CSV_NUMBERS_BYTES - 16; i++) {
        struct field field = csv_field_next(&line, separator);
        csv_remove_quotes(&field);
        if (text_to_f64(field.start, field.length, &number))
            length += (size_t)snprintf(out + length, CSV_NUMBERS_BYTES - length, "%s%zu",
                                       length > 0 ? "," : "", i);
    }
}

bool csv_is_missing(struct field field)
{
    char text[FIELD_BYTES];
    copy_field(field, text);
    return text_list_has("NA,N/A,NULL,null,None,none,NaT", text);
}

void csv_text_hint(struct field field, struct irrun_error *err)
{
    static const struct {
        char character;
        size_t max_length; /* only this many characters are searched */
        const char *hint;
    } hints[] = {{';', SIZE_MAX,
                  "columns are separated by commas or tabs: "
                  "sed -E 's/([0-9]),([0-9])/\\1.\\2/g; y/;/\\t/' FILE" READ_CSV},
                 {'\xff', SIZE_MAX, "iconv -f UTF-16 -t UTF-8 FILE" READ_CSV},
                 {'\0', SIZE_MAX, "iconv -f UTF-16 -t UTF-8 FILE" READ_CSV},
                 {'\r', SIZE_MAX, "tr '\\r' '\\n' <FILE" READ_CSV},
                 {'{', 1, "jq -r '[.[]] | @csv' FILE" READ_CSV},
                 {'[', 1, "tr -d '[]' <FILE" READ_CSV}};
    char text[FIELD_BYTES];
    double number;
    copy_field(field, text);
    if (field.length > 0 && field.start[field.length - 1] == '%' &&
        text_to_f64(field.start, field.length - 1, &number))
        fail_hint(err, "tr -d %% <FILE" READ_CSV);
    if (csv_is_missing(field))
        fail_hint(err,
                  "nan stands for a missing number, and a state keeps it: sed 's|\\b%s\\b|nan|g' "
                  "FILE" READ_CSV,
                  text);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        size_t n = field.length < hints[i].max_length ? field.length : hints[i].max_length;
        if (memchr(field.start, hints[i].character, n))
            fail_hint(err, "%s", hints[i].hint);
    }
}

void csv_decimal_hint(struct field field, char separator, struct irrun_error *err)
{
    char text[FIELD_BYTES];
    double number;
    const char *quote = separator == ',' ? "\"" : "";
    copy_field(field, text);
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    if (comma && text_to_f64(text, strlen(text), &number))
        fail_hint(
            err,
            "decimals have a point: sed -E 's/%s([-+0-9]+),([0-9]+)%s/\\1.\\2/g' FILE" READ_CSV,
            quote, quote);
}

bool csv_field_hint(struct field line, char separator, struct field name, struct irrun_error *err)
{
    char wanted[FIELD_BYTES], heading[FIELD_BYTES], near[TEXT_QUOTED_BYTES];
    char numbers[CSV_NUMBERS_BYTES];
    struct text all = {0}; /* the headings with commas between them */
    struct field nearest = {0};
    unsigned limit = name.length > 2 ? 2 : (unsigned)name.length - (name.length > 0);
    bool has_headings = false;
    double number;
    csv_number_columns(line, separator, numbers);
    if (!memchr(line.start, separator, line.length) || memchr(line.start, '\0', line.length))
        csv_text_hint(line, err);
    copy_field(name, wanted);
    for (struct field rest = line; rest.start;) {
        const struct field field = csv_field_next(&rest, separator);
        kept_columns_add(&all, field.start == line.start, field.start, field.length, separator);
        copy_field(field, heading);
        bool is_number = text_to_f64(heading, strlen(heading), &number);
        has_headings |= !is_number;
        unsigned distance =
            text_equals_ignore_case(wanted, heading) ? 0 : text_distance(wanted, heading, limit);
        if (distance > limit || is_number || (distance > 1 && wanted[0] != heading[0]))
            continue;
        nearest = field;
        limit = distance - (distance > 0);
    }
    const char *shown = all.data ? all.data : "";
    if (!has_headings)
        fail_hint(err,
                  "the first line has numbers, not headings: %.800s; --columns=0,... takes columns "
                  "by number",
                  shown);
    else if (nearest.start)
        fail_hint(err, "did you mean %s? the columns are %.800s", csv_column_word(nearest, near),
                  shown);
    else if (numbers[0])
        fail_hint(err, "the columns are %.800s; if this line is data, " CSV_BY_NUMBER, shown,
                  numbers);
    else
        fail_hint(err, "the columns are %.800s", shown);
    text_free(&all);
    return false;
}
