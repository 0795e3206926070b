/* Splits a line of csv into fields, finds headings, and adds hints to errors. A field is a number
 * or a heading, possibly in double quotes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_CSV_FIELDS_H
#define IRRUN_FORMATS_CSV_FIELDS_H

#include "base/text.h"

/* A view of a part of a line. */
struct field {
    const char *start;
    size_t length; /* bytes */
};

/* Returns the first field of *rest, without blanks around it, and removes it. rest->start is NULL
 * after the last field. */
struct field csv_field_next(struct field *rest, char separator);

/* Returns the separator of a table, a tab or a comma: the one that is more frequent in its first
 * line. A comma before a space does not count: it may be part of a heading. */
char csv_find_separator(struct field line);

size_t csv_count_fields(struct field line, char separator);

/* Returns how many columns have the heading `name`, and sets `found` to the numbers of the first
 * two. The first heading may begin with # and blanks that are not in `name`. */
size_t csv_find_columns(struct field line, char separator, struct field name, size_t found[2]);

/* Returns whether a field of a line with commas begins with a quote that is not closed. */
bool csv_has_open_quote(struct field line);

/* Compares two fields as if neither had quotes. */
bool csv_field_equals(struct field heading, struct field name);

/* Removes the quotes around a field and returns whether there were any. Inside them, two quotes
 * mean one. */
bool csv_remove_quotes(struct field *field);

/* Returns a heading as the value of --columns, quoted for a shell and truncated to fit. */
const char *csv_column_word(struct field heading, char out[TEXT_QUOTED_BYTES]);

/* Returns the heading of the first column that has a number in the second line of `text`, or the
 * first heading if there is no number. The text begins with a word of n_word bytes, which is not a
 * number. Sets *is_column to whether this word may be a heading of a table with commas or tabs. */
struct field csv_find_heading(struct field text, size_t n_word, bool *is_column);

/* Returns whether a field is a word for a missing number, such as NA. */
bool csv_is_missing(struct field field);

/* Lists the first columns with a number, counted from 0: "1,2"; "" if there are none. */
#define CSV_NUMBERS_BYTES 64
void csv_number_columns(struct field line, char separator, char out[CSV_NUMBERS_BYTES]);
#define CSV_BY_NUMBER "--columns=%s takes columns of numbers, counted from 0"

/* The end of a command in a hint. */
#define READ_CSV " | irrun ... -i csv:-"

/* Adds a hint if a field or a line contains semicolons, brackets, NA or other text that is not
 * csv. */
void csv_text_hint(struct field field, struct irrun_error *err);

/* Adds a hint if the field, without quotes, is a number with a decimal comma, such as 1,5. */
void csv_decimal_hint(struct field field, char separator, struct irrun_error *err);

/* Adds a hint to the error that `name` is not one of the headings in `line`: suggests a similar
 * heading, and lists all headings. Returns false. */
bool csv_field_hint(struct field line, char separator, struct field name, struct irrun_error *err);

/* ---- Errors, in csv_mistakes.c: fail with IRRUN_DATA and return false ------------------------ */

struct csv_row {
    struct field line;
    char separator;
    struct place place;
};

/* Fails because field `index` of the row is not a number. `field` includes its quotes. */
bool csv_fail_field(const struct csv_row *row, struct field field, size_t index, const char *why,
                    struct irrun_error *err);

/* Fails because the row has only n columns, but column `index` is to be read. */
bool csv_fail_missing(const struct csv_row *row, size_t n, size_t index, struct irrun_error *err);

/* Fails because the row has n columns, but the first line has n_wanted. */
bool csv_fail_count(const struct csv_row *row, size_t n, size_t n_wanted, bool has_headings,
                    struct irrun_error *err);

/* Fails with IRRUN_USAGE if a kept column has the heading `name` of an output, because the two
 * columns would have the same heading. */
bool csv_check_heading(const char *name, struct field kept, struct irrun_error *err);

#endif
