/* csv: lines of numbers separated by commas, blanks or tabs; lines that begin with # are skipped.
 * Reads irrun's own text output too. A number may be in double quotes; there are no headings.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "formats/csv_fields.h"
#include "formats/csv_number.h"
#include "formats/format_internal.h"
#include "formats/kept_columns.h"

/* Longer words are not numbers. */
#define MAX_WORD_BYTES 1024

struct csv {
    struct reader reader;
    bool is_begun;
    uint64_t line_offset; /* offset of the start of the line */
    size_t n_in_row;      /* numbers read from this line */
};

static bool csv_next(struct reader *reader, struct array_header *header, bool *is_end,
                     struct irrun_error *err)
{
    struct csv *csv = (struct csv *)reader;
    struct byte_source *source = &reader->source;
    *is_end = csv->is_begun;
    *header = (struct array_header){.dtype = IRRUN_DYNAMIC};
    if (csv->is_begun)
        return true;
    csv->is_begun = true;
    csv->reader.line = 1;
    if (!source_want(source, 1, err))
        return false;
    /* npy, npz, RIFF, .snd and gzip files begin with these bytes; only '.' may also begin a
     * number. */
    if (source_available(source) != 0 && memchr("\x93PR.\x1f", *source_bytes(source), 5) &&
        !reader_check_kind(reader, "csv", err))
        return false;
    if (!source_skip_bom(source, err))
        return false;
    csv->line_offset = source->offset;
    return true;
}

static struct place place_here(const struct csv *csv)
{
    uint64_t column = csv->reader.source.offset - csv->line_offset + 1;
    return (struct place){csv->reader.path, csv->reader.line,
                          column < UINT32_MAX ? (uint32_t)column : UINT32_MAX};
}

/* Returns whether all characters are printable. */
static bool is_text(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)word[i] < ' ' || word[i] == 0x7f)
            return false;
    return length != 0;
}

static bool fail_word(const struct csv *csv, const char *word, size_t length, const char *why,
                      enum irrun_dtype dtype, struct irrun_error *err)
{
    int shown = (int)(length < 40 ? length : 40);
    const char *more = length > 40 ? "..." : "";
    if (strcmp(why, "is not a number") != 0) /* then the type matters */
        return fail_at(err, IRRUN_DATA, place_here(csv), "\"%.*s%s\" %s: %s was expected", shown,
                       word, more, why, irrun_dtype_name(dtype));
    fail_at(err, IRRUN_DATA, place_here(csv), "\"%.*s%s\" %s", shown, word, more, why);
    bool is_heading = csv->reader.line == 1 && csv->n_in_row == 0 && is_text(word, length) &&
                      strchr("+-.0123456789", word[0]) == NULL;
    bool is_column;
    const struct field all = {word, source_available(&csv->reader.source)};
    const struct field field = csv_find_heading(all, length, &is_column);
    char column[TEXT_QUOTED_BYTES], numbers[CSV_NUMBERS_BYTES];
    const char *end = memchr(all.start, '\n', all.length);
    const struct field line = {word, end ? (size_t)(end - word) : all.length};
    csv_number_columns(line, csv_find_separator(line), numbers);
    if (word[0] == '"')
        csv_decimal_hint(field, ',', err);
    csv_text_hint((struct field){word, length}, err);
    if (is_heading && dtype == IRRUN_U8)
        fail_hint(err, "-i raw:FILE reads a file of bytes");
    else if (csv->n_in_row == 0 && csv->reader.line == 1 && numbers[0])
        fail_hint(err, "%s" CSV_BY_NUMBER, is_heading ? "if this line is data, " : "", numbers);
    else if (is_heading && is_column)
        fail_hint(err, "if it is a heading, name the columns by it: --columns=%s[,NAME]",
                  csv_column_word(field, column));
    else if (memchr(word, '"', length))
        fail_hint(err, "--columns=A,B,... reads columns of numbers beside text in quotes; a column "
                       "is a heading, or a number from 0");
    else if (is_heading)
        fail_hint(err, "if it is a header line: tail -n +2 FILE" READ_CSV);
    else if (is_text(word, length))
        fail_hint(err,
                  "nan stands for a missing number; sed %" PRIu32 "d FILE" READ_CSV
                  " leaves the line out",
                  csv->reader.line);
    return false;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void end_line(struct csv *csv)
{
    source_consume(&csv->reader.source, 1);
    reader_end_line(&csv->reader);
    csv->line_offset = csv->reader.source.offset;
    csv->n_in_row = 0;
}

/* Skips to the end of the line or of the file. */
static bool skip_comment(struct csv *csv, struct irrun_error *err)
{
    struct byte_source *source = &csv->reader.source;
    for (;;) {
        size_t n = source_available(source);
        const unsigned char *newline = n ? memchr(source_bytes(source), '\n', n) : NULL;
        source_consume(source, newline ? (size_t)(newline - source_bytes(source)) : n);
        if (newline || source->is_at_end)
            return true;
        if (!source_more(source, err))
            return false;
    }
}

/* Fails because a number is missing before the character `next`, or before the end (-1). */
static bool fail_missing(const struct csv *csv, int next, bool is_row_full, struct irrun_error *err)
{
    bool is_last = next == '\n' || next == -1;
    fail_at(err, IRRUN_DATA, place_here(csv), "a number is missing in column %zu, counted from 0",
            csv->n_in_row);
    if (is_last && is_row_full)
        return fail_hint(
            err, "a line must not end with a comma: sed 's/,[[:space:]]*$//' FILE" READ_CSV);
    if (is_last)
        return fail_hint(err, "nan stands for a missing number; if every line ends with a comma: "
                              "sed 's/,[[:space:]]*$//' FILE" READ_CSV);
    return fail_hint(err, "nan stands for a missing number; grep -vE '^[[:space:]]*,|,[[:space:]]*,"
                          "' FILE" READ_CSV " leaves such lines out");
}

/* Skips line ends, comments and one comma before the next number. Sets *is_end if there is none. */
static bool find_number(struct csv *csv, bool *is_end, struct irrun_error *err)
{
    bool is_after_comma = false;
    int c;
    for (;;) {
        if (!source_skip_blanks(&csv->reader.source, &c, err))
            return false;
        bool is_line_end = c == '\n' || c == -1;
        if ((is_line_end && is_after_comma) || (c == ',' && (is_after_comma || csv->n_in_row == 0)))
            return fail_missing(csv, c, false, err);
        if (c == '\n') {
            end_line(csv);
        } else if (c == '#' && csv->n_in_row == 0) {
            if (!skip_comment(csv, err))
                return false;
        } else if (c == ',') {
            is_after_comma = true;
            source_consume(&csv->reader.source, 1);
        } else {
            *is_end = c == -1;
            return true;
        }
    }
}

static const bool is_separator[256] = {
    [','] = true, ['\n'] = true, [' '] = true, ['\t'] = true, ['\r'] = true};

/* Reads the next word into the buffer, without consuming it, and sets *length. */
static bool measure_word(struct csv *csv, size_t *length, struct irrun_error *err)
{
    struct byte_source *source = &csv->reader.source;
    size_t n = 0;
    for (;;) {
        const unsigned char *bytes = source_bytes(source);
        size_t n_ready = source_available(source);
        while (n < n_ready && !is_separator[bytes[n]])
            n++;
        *length = n;
        if (n < n_ready || source->is_at_end || n > MAX_WORD_BYTES)
            return true;
        if (!source_more(source, err))
            return false;
    }
}

static bool read_number(struct csv *csv, enum irrun_dtype dtype, void *element,
                        struct irrun_error *err)
{
    size_t length;
    const char *why = "is not a number";
    if (!measure_word(csv, &length, err))
        return false;
    const char *word = (const char *)source_bytes(&csv->reader.source);
    size_t quote = length > 1 && word[0] == '"' && word[length - 1] == '"';
    if (length > MAX_WORD_BYTES ||
        !csv_number_parse(word + quote, length - 2 * quote, dtype, element, &why))
        return fail_word(csv, word, length, why, dtype, err);
    source_consume(&csv->reader.source, length);
    csv->n_in_row++;
    return true;
}

/* Counts the numbers in the rest of the line. Sets *is_whole to false if the line does not
 * fit in the buffer. */
static bool count_rest(struct csv *csv, size_t *n, bool *is_whole, struct irrun_error *err)
{
    struct byte_source *source = &csv->reader.source;
    size_t n_before, n_words = 0;
    do {
        n_before = source_available(source);
        *is_whole = source->is_at_end || memchr(source_bytes(source), '\n', n_before);
        if (!*is_whole && !source_more(source, err))
            return false;
    } while (!*is_whole && (source->is_at_end || source_available(source) > n_before));
    const unsigned char *bytes = source_bytes(source);
    bool is_word = false;
    for (size_t i = 0; i < source_available(source) && bytes[i] != '\n'; i++) {
        n_words += !is_word && !is_separator[bytes[i]];
        is_word = !is_separator[bytes[i]];
    }
    *n = n_words;
    return true;
}

/* Fails because the line has more numbers than a record of n. */
static bool fail_long_row(struct csv *csv, size_t n, struct irrun_error *err)
{
    unsigned char next = *source_bytes(&csv->reader.source);
    const struct place place = place_here(csv);
    bool has_cr_lines =
        csv->reader.source.start > 0 && source_bytes(&csv->reader.source)[-1] == '\r';
    if (csv->n_in_row < n || next == '#') {
        fail_at(err, IRRUN_DATA, place, "the line continues after the %zu number%s of the record",
                n, n == 1 ? "" : "s");
        return fail_hint(err, "a record takes one or more whole lines");
    }
    if (next == ',') {
        int c;
        source_consume(&csv->reader.source, 1);
        if (!source_skip_blanks(&csv->reader.source, &c, err))
            return false;
        if (c == '\n' || c == -1 || c == ',')
            return fail_missing(csv, c, true, err);
    }
    size_t n_rest;
    bool is_whole;
    if (!count_rest(csv, &n_rest, &is_whole, err))
        return false;
    fail_at(err, IRRUN_DATA, place, "%s%zu numbers in this line, but the record takes %zu",
            is_whole ? "" : "at least ", n + n_rest, n);
    if (next != ',')
        return fail_hint(err, has_cr_lines ? "tr '\\r' '\\n' <FILE" READ_CSV
                                           : "a record takes one or more whole lines");
    return n == 1 ? fail_hint(err, "--columns=1 reads the second, counted from 0; a decimal comma "
                                   "becomes a point: tr , . <FILE" READ_CSV)
                  : fail_hint(err, "cut -d, -f1-%zu FILE" READ_CSV " reads the first %zu", n, n);
}

/* Ends a record, which must be at the end of a line. */
static bool end_row(struct csv *csv, size_t n, struct irrun_error *err)
{
    int c;
    if (!source_skip_blanks(&csv->reader.source, &c, err))
        return false;
    if (c == '\n')
        end_line(csv);
    if (c == '\n' || c == -1)
        return true;
    return fail_long_row(csv, n, err);
}

static bool csv_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                     size_t *n_read, struct irrun_error *err)
{
    struct csv *csv = (struct csv *)reader;
    unsigned char *at = data;
    unsigned char skipped[sizeof(double)];
    size_t size_bytes = dtype_size(dtype);
    for (*n_read = 0; *n_read < n; ++*n_read) {
        bool is_end = false;
        if (!find_number(csv, &is_end, err))
            return false;
        if (is_end)
            return true;
        if (!read_number(csv, dtype, at ? at + *n_read * size_bytes : skipped, err))
            return false;
    }
    return n == 0 || end_row(csv, n, err);
}

static void csv_reset(struct reader *reader)
{
    struct csv *csv = (struct csv *)reader;
    csv->is_begun = false;
    csv->n_in_row = 0;
    csv->reader.line = 0;
}

const struct reader_methods csv_reader = {
    .size_bytes = sizeof(struct csv), .next = csv_next, .read = csv_read, .reset = csv_reset};

/* ---- Writing --------------------------------------------------------------------------------- */

struct csv_file {
    struct writer writer;
    bool is_begun; /* the heading of kept columns is written */
};

/* Sets *n to the number of elements of the record. Fails with IRRUN_USAGE unless the record is one
 * row. */
static bool count_row(const struct writer *writer, const struct irrun_shape *shape, int64_t *n,
                      struct irrun_error *err)
{
    char text[SHAPE_TEXT_BYTES];
    *n = shape_n_elements(shape);
    return *n == (shape->rank > 0 ? shape->dims[shape->rank - 1] : 1) ||
           fail(err, IRRUN_USAGE,
                "--keep-columns: output \"%s\" is %s, but must be one row for each record",
                writer->names[0], shape_format(shape, text));
}

/* Writes the headings of kept columns, then the name of the output, or NAME_0, NAME_1 … if a row
 * has several numbers. */
static bool write_heading(struct csv_file *csv, const struct irrun_shape *shape,
                          struct irrun_error *err)
{
    struct writer *writer = &csv->writer;
    const struct text *heading = &writer->options.kept->heading;
    struct text line = {0}, name = {0};
    int64_t n;
    csv->is_begun = true;
    if (heading->length == 0)
        return true;
    if (!count_row(writer, shape, &n, err))
        return false;
    text_add_bytes(&line, heading->data, heading->length - 1);
    bool is_named = true;
    for (int64_t i = 0; i < n && is_named; i++) {
        name.length = 0;
        text_add(&name, "%s", writer->names[0]);
        if (n > 1)
            text_add(&name, "_%" PRId64, i);
        is_named =
            text_check(&name, err) &&
            csv_check_heading(name.data, (struct field){heading->data, heading->length - 1}, err);
        if (is_named)
            kept_columns_add(&line, false, name.data, name.length, '\0');
    }
    text_free(&name);
    text_add_bytes(&line, "\n", 1);
    bool is_written = is_named && text_check(&line, err) &&
                      output_file_write(&writer->file, line.data, line.length, err);
    text_free(&line);
    return is_written;
}

static bool write_kept(struct csv_file *csv, const struct irrun_shape *shape,
                       struct irrun_error *err)
{
    const struct slice row = csv->writer.options.kept->row;
    int64_t n;
    return (csv->is_begun || write_heading(csv, shape, err)) &&
           count_row(&csv->writer, shape, &n, err) &&
           output_file_write(&csv->writer.file, row.at, slice_length(row), err) &&
           output_file_write(&csv->writer.file, n > 0 ? "," : "\n", 1, err);
}

static bool csv_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                      const struct record_label *label, struct irrun_error *err)
{
    (void)output;
    (void)label;
    return (!writer->options.kept || write_kept((struct csv_file *)writer, &record->shape, err)) &&
           write_number_rows(&writer->file, record, ',', false, err);
}

/* Writes the headings if the table has no rows. */
static bool csv_finish(struct writer *writer, struct irrun_error *err)
{
    struct csv_file *csv = (struct csv_file *)writer;
    return !writer->options.kept || csv->is_begun || !writer->types[0].is_expected ||
           write_heading(csv, &writer->types[0].shape, err);
}

const struct writer_methods csv_writer = {
    .size_bytes = sizeof(struct csv_file), .write = csv_write, .finish = csv_finish};
