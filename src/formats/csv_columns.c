/* Reads selected columns of a csv file, given by number or by the headings in the first line. A
 * field in double quotes may contain separators.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formats/csv_fields.h"
#include "formats/csv_number.h"
#include "formats/format_internal.h"
#include "formats/kept_columns.h"

struct csv_columns {
    struct reader reader;
    const char *wanted; /* "A,B,...": borrowed */
    bool is_begun;
    char separator;
    size_t n_wanted;
    size_t n_fields; /* fields of a line to parse */
    size_t *slots;   /* [n_fields]: position of the field in `wanted`, from 1; 0: skipped */

    size_t n_columns; /* of the first line and required of all lines; 0: no line was read */
    bool has_headings;

    struct kept_columns *kept; /* NULL: no --keep-columns */
    bool keeps_all;
    size_t *kept_ids; /* [n_kept]: column numbers */
    size_t n_kept, kept_capacity;
    struct field *fields; /* [n_fields] of a line, if columns are kept */
};

/* ---- Lines and fields ------------------------------------------------------------------------ */

static void end_line(struct csv_columns *csv)
{
    struct byte_source *source = &csv->reader.source;
    const unsigned char *start = source_bytes(source);
    size_t n = source_available(source);
    const unsigned char *end = memchr(start, '\n', n);
    source_consume(source, end ? (size_t)(end - start) + 1 : n);
    reader_end_line(&csv->reader);
}

static bool is_blank(struct field line)
{
    for (size_t i = 0; i < line.length; i++)
        if (!text_is_blank(line.start[i]))
            return false;
    return true;
}

/* Rejects a quoted field whose closing quote is not in the line. Does not check the first line,
 * which may have headings, nor lines with tabs, in which a quote is often an ordinary character. */
static bool check_quotes(const struct csv_columns *csv, struct field line, struct irrun_error *err)
{
    if (csv->separator != ',' || !csv_has_open_quote(line))
        return true;
    fail_at(err, IRRUN_DATA, reader_place(&csv->reader), "a quoted field does not end in its line");
    return fail_hint(err, "a record is one line: remove line breaks from the fields");
}

#define MAX_COLUMN 65535

static bool is_number(struct field name, int64_t *number)
{
    bool is_all = name.length > 0;
    for (size_t i = 0; i < name.length; i++)
        is_all = is_all && text_is_digit(name.start[i]);
    return is_all && text_to_i64(name.start, name.length, number) && *number <= MAX_COLUMN;
}

/* Returns whether the list names one of the headings in the line. */
static bool has_name(struct field line, const char *list)
{
    struct field rest = {list, strlen(list)};
    size_t found[2];
    int64_t number;
    while (rest.start) {
        const struct field name = csv_field_next(&rest, ',');
        if (!is_number(name, &number) &&
            csv_find_columns(line, csv_find_separator(line), name, found) > 0)
            return true;
    }
    return false;
}

/* Returns whether a line that begins with # is a comment. The line of headings may begin with #. */
static bool is_comment(struct csv_columns *csv, struct field line)
{
    if (csv->n_columns == 0)
        return !has_name(line, csv->wanted) &&
               !(csv->kept && !csv->keeps_all && has_name(line, csv->kept->wanted));
    csv->reader.n_doubtful += csv->n_columns > 1 && csv->has_headings &&
                              csv_count_fields(line, csv->separator) == csv->n_columns;
    return true;
}

/* Finds the next line that is neither blank nor a comment. The whole line is in the buffer and not
 * consumed yet. At the end of the file line->start is NULL. */
static bool find_line(struct csv_columns *csv, struct field *line, struct irrun_error *err)
{
    struct byte_source *source = &csv->reader.source;
    for (;;) {
        const char *start = (const char *)source_bytes(source);
        size_t n = source_available(source);
        const char *end = n ? memchr(start, '\n', n) : NULL;
        if (!end && !source->is_at_end) {
            if (n == SOURCE_BUFFER_BYTES)
                return fail_at(err, IRRUN_DATA, reader_place(&csv->reader),
                               "the line has at least %zu bytes", SOURCE_BUFFER_BYTES);
            if (!source_more(source, err))
                return false;
            continue;
        }
        *line = (struct field){n ? start : NULL, end ? (size_t)(end - start) : n};
        if (!line->start)
            return true;
        if (!is_blank(*line) && (*start != '#' || !is_comment(csv, *line))) {
            /* A tab at the end may separate an empty field. */
            while (text_is_blank(start[line->length - 1]) &&
                   (start[line->length - 1] != '\t' || csv->separator == ','))
                line->length--;
            return check_quotes(csv, *line, err);
        }
        end_line(csv);
    }
}

/* ---- Headings -------------------------------------------------------------------------------- */

/* Finds the column with this heading; fails unless there is exactly one. */
static bool find_heading(const struct csv_columns *csv, struct field line, struct field name,
                         size_t *index, struct irrun_error *err)
{
    size_t found[2];
    const size_t n = csv_find_columns(line, csv->separator, name, found);
    *index = found[0];
    if (n == 1)
        return true;
    if (n > 1) {
        fail_at(err, IRRUN_DATA, reader_place(&csv->reader),
                "column %zu and column %zu, counted from 0, are both \"%.*s\"", found[0], found[1],
                (int)name.length, name.start);
        return fail_hint(err,
                         "tail -n +%" PRIu32 " FILE" READ_CSV " --columns=%zu "
                         "takes it by number",
                         csv->reader.line + 1, found[0]);
    }
    fail_at(err, IRRUN_DATA, reader_place(&csv->reader), "no column \"%.*s\"", (int)name.length,
            name.start);
    if (csv->reader.line > 1)
        fail_append(err, "; lines that begin with # are skipped");
    return csv_field_hint(line, csv->separator, name, err);
}

/* Makes `index` one of the fields to parse. */
static bool include_field(struct csv_columns *csv, size_t index, struct irrun_error *err)
{
    if (index < csv->n_fields)
        return true;
    size_t *grown = realloc(csv->slots, (index + 1) * sizeof *grown);
    if (!grown)
        return fail_memory(err, (index + 1) * sizeof *grown);
    memset(grown + csv->n_fields, 0, (index + 1 - csv->n_fields) * sizeof *grown);
    csv->slots = grown;
    csv->n_fields = index + 1;
    return true;
}

/* Adds column `index` to those to read. */
static bool add_read_column(struct csv_columns *csv, size_t index, struct irrun_error *err)
{
    if (!include_field(csv, index, err))
        return false;
    if (csv->slots[index] != 0)
        return fail(err, IRRUN_USAGE, "--columns=%s names a column twice", csv->wanted);
    csv->slots[index] = ++csv->n_wanted;
    return true;
}

/* Adds column `index` to those to keep. */
static bool add_kept_column(struct csv_columns *csv, size_t index, struct irrun_error *err)
{
    if (!GROW_ARRAY(csv->kept_ids, csv->n_kept, csv->kept_capacity, err))
        return false;
    csv->kept_ids[csv->n_kept++] = index;
    return include_field(csv, index, err);
}

/* Calls `add` for the columns of a list, which are numbers or headings of the line. */
static bool add_listed_columns(struct csv_columns *csv, const char *list, struct field line,
                               bool (*add)(struct csv_columns *csv, size_t index,
                                           struct irrun_error *err),
                               bool *has_names, struct irrun_error *err)
{
    struct field rest = {list, strlen(list)};
    while (rest.start) {
        const struct field name = csv_field_next(&rest, ',');
        int64_t number;
        size_t index;
        bool is_named = !is_number(name, &number);
        *has_names |= is_named;
        if (is_named && !line.start)
            return true; /* no line: no record */
        if (is_named && !find_heading(csv, line, name, &index, err))
            return false;
        if (!add(csv, is_named ? index : (size_t)number, err))
            return false;
    }
    return true;
}

/* Appends the kept fields of a line to `row`. */
static bool keep_row(const struct csv_columns *csv, struct field line, struct text *row,
                     struct irrun_error *err)
{
    if (csv->keeps_all && csv->separator == ',') {
        kept_columns_add(row, true, line.start, line.length, ',');
    } else if (csv->keeps_all) {
        for (bool is_first = true; line.start; is_first = false) {
            const struct field field = csv_field_next(&line, csv->separator);
            kept_columns_add(row, is_first, field.start, field.length, csv->separator);
        }
    } else {
        for (size_t i = 0; i < csv->n_kept; i++) {
            const struct field *field = &csv->fields[csv->kept_ids[i]];
            kept_columns_add(row, i == 0, field->start, field->length, csv->separator);
        }
    }
    text_add_bytes(row, "\n", 1);
    return text_check(row, err);
}

/* Stores the headings of the kept columns. */
static bool keep_headings(struct csv_columns *csv, struct field line, struct irrun_error *err)
{
    struct field rest = line;
    for (size_t i = 0; i < csv->n_fields && rest.start; i++)
        csv->fields[i] = csv_field_next(&rest, csv->separator);
    return csv->kept->heading.length > 0 || keep_row(csv, line, &csv->kept->heading, err);
}

/* Finds the columns to read and to keep. If one of them is named, consumes the first line, which
 * has the headings. */
static bool find_columns(struct csv_columns *csv, struct irrun_error *err)
{
    struct field line;
    bool has_names = false;
    csv->keeps_all = csv->kept && strcmp(csv->kept->wanted, "all") == 0;
    if (!find_line(csv, &line, err))
        return false;
    csv->separator = csv_find_separator(line);
    csv->n_columns = line.start ? csv_count_fields(line, csv->separator) : 0;
    if (!add_listed_columns(csv, csv->wanted, line, add_read_column, &has_names, err) ||
        (csv->kept && !csv->keeps_all &&
         !add_listed_columns(csv, csv->kept->wanted, line, add_kept_column, &has_names, err)))
        return false;
    csv->fields = csv->kept ? new_array(csv->n_fields, sizeof *csv->fields, err) : NULL;
    if (csv->kept && !csv->fields)
        return false;
    csv->has_headings = has_names && line.start;
    if (!csv->has_headings)
        return true;
    if (csv->kept && !keep_headings(csv, line, err))
        return false;
    end_line(csv);
    return true;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool columns_next(struct reader *reader, struct array_header *header, bool *is_end,
                         struct irrun_error *err)
{
    struct csv_columns *csv = (struct csv_columns *)reader;
    *is_end = csv->is_begun;
    *header = (struct array_header){.dtype = IRRUN_DYNAMIC};
    if (csv->is_begun)
        return true;
    csv->is_begun = true;
    reader->line = 1;
    return source_want(&reader->source, 1, err) && source_skip_bom(&reader->source, err) &&
           find_columns(csv, err);
}

static bool read_row(struct csv_columns *csv, struct field line, enum irrun_dtype dtype,
                     unsigned char *data, bool is_skipped, struct irrun_error *err)
{
    struct csv_row row = {line, csv->separator, reader_place(&csv->reader)};
    struct field rest = line;
    size_t size_bytes = dtype_size(dtype), n = csv_count_fields(line, csv->separator);
    if (n != csv->n_columns)
        return csv_fail_count(&row, n, csv->n_columns, csv->has_headings, err);
    if (n < csv->n_fields)
        return csv_fail_missing(&row, n, csv->n_fields - 1, err);
    for (size_t i = 0; i < csv->n_fields; i++) {
        const char *why = "is not a number";
        const struct field field = csv_field_next(&rest, csv->separator);
        struct field number = field;
        if (csv->fields)
            csv->fields[i] = field;
        csv_remove_quotes(&number);
        if (csv->slots[i] != 0 && !csv_number_parse(number.start, number.length, dtype,
                                                    data + (csv->slots[i] - 1) * size_bytes, &why))
            return csv_fail_field(&row, field, i, why, err);
    }
    if (csv->kept && !is_skipped && !keep_row(csv, line, &csv->kept->rows, err))
        return false;
    end_line(csv);
    return true;
}

/* Reads rows. Also parses rows that are skipped, so that they cause the same errors. */
static bool columns_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                         size_t *n_read, struct irrun_error *err)
{
    struct csv_columns *csv = (struct csv_columns *)reader;
    size_t n_row = csv->n_wanted, row_bytes = n_row * dtype_size(dtype);
    unsigned char *row = data ? data : malloc(row_bytes + 1);
    bool is_read = row || fail_memory(err, row_bytes);
    *n_read = 0;
    if (is_read && n_row > 0 && n % n_row != 0)
        is_read =
            fail(err, IRRUN_USAGE, "--columns=%s: rows of %zu numbers do not fill a record of %zu",
                 csv->wanted, n_row, n);
    if (is_read && csv->kept && n_row > 0 && n != n_row)
        is_read = fail(err, IRRUN_USAGE,
                       "--keep-columns: a record takes %zu rows of the table, but must take one",
                       n / n_row);
    while (is_read && *n_read < n) {
        struct field line;
        is_read = find_line(csv, &line, err);
        if (!is_read || !line.start)
            break;
        is_read =
            read_row(csv, line, dtype, data ? row + *n_read / n_row * row_bytes : row, !data, err);
        *n_read += n_row;
    }
    if (!data)
        free(row);
    return is_read;
}

static void columns_reset(struct reader *reader)
{
    struct csv_columns *csv = (struct csv_columns *)reader;
    free(csv->slots);
    free(csv->kept_ids);
    free(csv->fields);
    csv->slots = csv->kept_ids = NULL;
    csv->fields = NULL;
    csv->n_wanted = csv->n_fields = csv->n_kept = csv->kept_capacity = csv->n_columns = 0;
    csv->is_begun = false;
    csv->separator = '\0';
    reader->line = 0;
    reader->n_doubtful = 0;
}

static const struct reader_methods columns_reader = {.size_bytes = sizeof(struct csv_columns),
                                                     .next = columns_next,
                                                     .read = columns_read,
                                                     .reset = columns_reset};

bool reader_open_columns(const char *path, const char *columns, struct kept_columns *kept,
                         struct reader **reader, struct irrun_error *err)
{
    if (!reader_open_methods(&columns_reader, path, reader, err))
        return false;
    ((struct csv_columns *)*reader)->wanted = columns;
    ((struct csv_columns *)*reader)->kept = kept;
    return true;
}
