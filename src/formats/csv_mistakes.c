/* Reports mistakes in the rows of a table. The hint of an error is a command that leaves the row
 * out.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/csv_fields.h"

static const char *shown_separator(const struct csv_row *row)
{
    return row->separator == '\t' ? "\\t" : ",";
}

/* Returns the place of a character of the line. */
static struct place place_of(const struct csv_row *row, const char *at)
{
    return (struct place){row->place.file, row->place.line, (uint32_t)(at - row->line.start) + 1};
}

/* Adds a hint: `what`, then a command that leaves out the lines for which the awk expression
 * `condition` is false. If the line has quotes, the command uses sed, because awk would split at
 * commas in quotes. */
static bool hint_leave_out(const struct csv_row *row, const char *what, const char *condition,
                           struct irrun_error *err)
{
    if (memchr(row->line.start, '"', row->line.length))
        return fail_hint(err, "%ssed %" PRIu32 "d FILE" READ_CSV " leaves the line out", what,
                         row->place.line);
    return fail_hint(err, "%sawk -F '%s' '/\"/ || %s' FILE" READ_CSV " leaves such lines out", what,
                     shown_separator(row), condition);
}

/* Adds a hint for a field that is empty or a word for a missing number, such as NA. */
static bool hint_missing(const struct csv_row *row, struct field field, size_t index,
                         struct irrun_error *err)
{
    char condition[48];
    if (field.length == 0)
        snprintf(condition, sizeof condition, "$%zu ~ /[^ ]/", index + 1);
    else
        snprintf(condition, sizeof condition, "$%zu != \"%.*s\"", index + 1, (int)field.length,
                 field.start);
    return hint_leave_out(row, "nan stands for a missing number, and a state keeps it; ", condition,
                          err);
}

bool csv_fail_field(const struct csv_row *row, struct field heading, size_t index, const char *why,
                    struct irrun_error *err)
{
    struct field field = heading;
    csv_remove_quotes(&field);
    char column[TEXT_QUOTED_BYTES];
    double number;
    if (field.length == 0) {
        fail_at(err, IRRUN_DATA, place_of(row, field.start),
                "a number is missing in column %zu, counted from 0", index);
        return hint_missing(row, field, index, err);
    }
    fail_at(err, IRRUN_DATA, place_of(row, field.start), "\"%.*s\" %s",
            (int)(field.length < 40 ? field.length : 40), field.start, why);
    if (csv_is_missing(field))
        return hint_missing(row, field, index, err);
    csv_text_hint(field, err);
    csv_decimal_hint(field, row->separator, err);
    if (text_to_f64(field.start, field.length, &number))
        return false;
    if (row->place.line > 1)
        return fail_hint(err, "--columns reads numbers; --keep-columns copies text");
    return fail_hint(err, "if it is a heading, name the columns by it: --columns=%s[,NAME]",
                     csv_column_word(heading, column));
}

bool csv_fail_missing(const struct csv_row *row, size_t n, size_t index, struct irrun_error *err)
{
    fail_at(err, IRRUN_DATA, row->place,
            "the line has %zu column%s, but column %zu, counted from 0, is to be read", n,
            n == 1 ? "" : "s", index);
    csv_text_hint(row->line, err);
    return fail_hint(err, "columns are counted from 0: the last one is %zu", n - 1);
}

bool csv_fail_count(const struct csv_row *row, size_t n, size_t n_wanted, bool has_headings,
                    struct irrun_error *err)
{
    struct field rest = row->line, field = rest;
    char condition[32];
    for (size_t i = 0; rest.start && i <= n_wanted; i++)
        field = csv_field_next(&rest, row->separator);
    const char *at = n > n_wanted ? field.start : row->line.start + row->line.length;
    fail_at(err, IRRUN_DATA, place_of(row, at), "the line has %zu column%s, but the %s", n,
            n == 1 ? "" : "s", has_headings ? "headings are" : "first line has");
    fail_append(err, " %zu", n_wanted);
    csv_text_hint(row->line, err);
    if (n == n_wanted + 1 && field.length == 0)
        return fail_hint(
            err, "lines must not end with a separator: sed 's/%s[[:space:]]*$//' FILE" READ_CSV,
            shown_separator(row));
    snprintf(condition, sizeof condition, "NF == %zu", n_wanted);
    return hint_leave_out(row,
                          n < n_wanted || row->separator == '\t'
                              ? ""
                              : "a field with a comma needs double quotes around it; ",
                          condition, err);
}

bool csv_check_heading(const char *name, struct field kept, struct irrun_error *err)
{
    const struct field own = {name, strlen(name)};
    struct text others = {0};
    size_t found[2];
    if (csv_find_columns(kept, ',', own, found) == 0)
        return true;
    fail(err, IRRUN_USAGE, "--keep-columns: the table has a column \"%s\" already", name);
    while (kept.start) {
        const struct field field = csv_field_next(&kept, ',');
        if (!csv_field_equals(field, own))
            text_add(&others, "%s%.*s", others.length > 0 ? "," : "", (int)field.length,
                     field.start);
    }
    if (others.length > 0)
        fail_hint(err, "--keep-columns='%s' leaves it out", others.data);
    text_free(&others);
    return false;
}
