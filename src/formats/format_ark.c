/* Reads Kaldi archives: each entry is a key and a matrix or vector of floats or doubles, binary or
 * text. Rejects compressed matrices. ark_writer.c writes archives.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formats/byte_order.h"
#include "formats/csv_number.h"
#include "formats/format_internal.h"

#define MAX_KEY_BYTES 1024
#define MAX_WORD_BYTES 64 /* per number in the text form */

struct ark {
    struct reader reader;
    char key[MAX_KEY_BYTES + 1];
    enum irrun_dtype dtype;
    struct irrun_shape shape;
    size_t n_left;
    /* The elements of an array in the text form, as f32. */
    float *values;
    size_t n_values, capacity;
    bool is_text;
};

static bool fail_entry(struct ark *ark, struct irrun_error *err, const char *what)
{
    if (ark->is_text && ark->reader.line != 0)
        return fail_at(err, IRRUN_DATA, reader_place(&ark->reader), "key %s: %s", ark->key, what);
    return fail_source(&ark->reader.source, err, "key %s: %s", ark->key, what);
}

/* Consumes the next byte, which is in the buffer. */
static void consume_byte(struct ark *ark)
{
    if (*source_bytes(&ark->reader.source) == '\n')
        reader_end_line(&ark->reader);
    source_consume(&ark->reader.source, 1);
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* ---- Binary ---------------------------------------------------------------------------------- */

static bool read_bytes(struct ark *ark, void *bytes, size_t n, struct irrun_error *err)
{
    size_t n_read = 0;
    if (!source_read(&ark->reader.source, bytes, n, &n_read, err))
        return false;
    return n_read == n || fail_entry(ark, err, "the file is truncated");
}

/* Reads a size as Kaldi writes it: a byte 4, the number of bytes, and those bytes. */
static bool read_dim(struct ark *ark, struct irrun_error *err)
{
    unsigned char bytes[5];
    if (!read_bytes(ark, bytes, sizeof bytes, err))
        return false;
    uint32_t dim = little_u32(bytes + 1);
    if (bytes[0] != 4 || dim > INT32_MAX)
        return fail_entry(ark, err, "a dimension is malformed");
    ark->shape.dims[ark->shape.rank++] = dim;
    return true;
}

/* Reads the kind of a matrix or vector, such as "FM " or "CM2 ". */
static bool read_kind(struct ark *ark, char kind[8], struct irrun_error *err)
{
    for (size_t n = 0; n < 7; n++) {
        if (!read_bytes(ark, &kind[n], 1, err))
            return false;
        if (kind[n] == ' ') {
            kind[n] = '\0';
            return true;
        }
        if (kind[n] <= ' ' || kind[n] > '~')
            break;
    }
    return fail_entry(ark, err, "is neither a matrix nor a vector of floats or doubles");
}

static bool read_binary_header(struct ark *ark, struct irrun_error *err)
{
    char kind[8];
    if (!read_kind(ark, kind, err))
        return false;
    if (kind[0] == 'C' && kind[1] == 'M') {
        fail_entry(ark, err, "is a compressed matrix, which irrun does not read");
        return fail_hint(err, "copy-feats --compress=false ark:IN ark:OUT");
    }
    bool is_known = strlen(kind) == 2 && (kind[0] == 'F' || kind[0] == 'D') &&
                    (kind[1] == 'M' || kind[1] == 'V');
    if (!is_known)
        return fail_entry(ark, err, "is neither a matrix nor a vector of floats or doubles");
    ark->dtype = kind[0] == 'F' ? IRRUN_F32 : IRRUN_F64;
    if (!read_dim(ark, err) || (kind[1] == 'M' && !read_dim(ark, err)))
        return false;
    size_t n_bytes;
    uint64_t left = source_left(&ark->reader.source);
    if (!tensor_size(ark->dtype, &ark->shape, &n_bytes))
        return fail_entry(ark, err, "the array is too large");
    if (left != UINT64_MAX && left < n_bytes)
        return fail_entry(ark, err, "the file is truncated");
    ark->n_left = (size_t)shape_n_elements(&ark->shape);
    return true;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static bool fail_value(struct ark *ark, const char *why, struct irrun_error *err)
{
    char what[64];
    snprintf(what, sizeof what, "a value %s", why);
    return fail_entry(ark, err, what);
}

static bool add_value(struct ark *ark, const char *word, size_t length, struct irrun_error *err)
{
    const char *why;
    float value;
    if (!csv_number_parse(word, length, IRRUN_F32, &value, &why))
        return fail_value(ark, why, err);
    if (!GROW_ARRAY(ark->values, ark->n_values, ark->capacity, err))
        return false;
    ark->values[ark->n_values++] = value;
    return true;
}

static bool parse_value(struct ark *ark, struct irrun_error *err)
{
    char word[MAX_WORD_BYTES];
    size_t length = 0;
    int c;
    for (;;) {
        if (!source_peek(&ark->reader.source, &c, err))
            return false;
        if (is_blank(c) || c == '\n' || c == ']' || c == -1)
            return add_value(ark, word, length, err);
        if (length == sizeof word)
            return fail_value(ark, "is too long for a number", err);
        word[length++] = (char)c;
        consume_byte(ark);
    }
}

/* Ends a row of a matrix, if there is one. All rows must have the same length. */
static bool end_row(struct ark *ark, size_t *row_start, struct irrun_error *err)
{
    int64_t length = (int64_t)(ark->n_values - *row_start);
    *row_start = ark->n_values;
    if (length == 0)
        return true;
    if (ark->shape.dims[0] != 0 && ark->shape.dims[1] != length)
        return fail_entry(ark, err, "the rows of the matrix differ in length");
    ark->shape.dims[0]++;
    ark->shape.dims[1] = length;
    return true;
}

/* Reads the text form. "[ 1 2 3 ]" is a vector; a line end after the bracket or between numbers
 * makes it a matrix. */
static bool read_text(struct ark *ark, struct irrun_error *err)
{
    int c;
    size_t row_start = 0;
    bool is_matrix = false;
    ark->dtype = IRRUN_F32;
    if (!source_skip_blanks(&ark->reader.source, &c, err))
        return false;
    if (c != '[')
        return fail_entry(ark, err, "neither Kaldi's binary mark nor \"[\" follows the key");
    consume_byte(ark);
    for (;;) {
        if (!source_skip_blanks(&ark->reader.source, &c, err))
            return false;
        if (c == -1)
            return fail_entry(ark, err, "the file is truncated: \"]\" is missing");
        if (c != '\n' && c != ']') {
            if (!parse_value(ark, err))
                return false;
            continue;
        }
        consume_byte(ark);
        is_matrix = is_matrix || c == '\n';
        if (!end_row(ark, &row_start, err))
            return false;
        if (c == ']')
            break;
    }
    ark->shape.rank = is_matrix ? 2 : 1;
    if (!is_matrix)
        ark->shape.dims[0] = (int64_t)ark->n_values;
    ark->n_left = ark->n_values;
    return true;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* Reads a key and the blank after it. Sets *is_end if there is no key. */
static bool read_key(struct ark *ark, bool *is_end, struct irrun_error *err)
{
    int c;
    size_t length = 0;
    ark->key[0] = '\0';
    if (ark->reader.source.can_seek && ark->reader.source.offset == 0 &&
        !reader_check_kind(&ark->reader, "ark", err))
        return false;
    do {
        if (!source_skip_blanks(&ark->reader.source, &c, err))
            return false;
        if (c == '\n')
            consume_byte(ark);
    } while (c == '\n');
    *is_end = c == -1;
    while (c > ' ' && length < MAX_KEY_BYTES) {
        ark->key[length++] = (char)c;
        consume_byte(ark);
        if (!source_peek(&ark->reader.source, &c, err))
            return false;
    }
    ark->key[length] = '\0';
    if (*is_end)
        return true;
    if (length == 0 || (c != ' ' && c != '\t')) {
        ark->key[0] = '\0';
        return fail_source(&ark->reader.source, err, "is not a Kaldi archive: a key is malformed");
    }
    consume_byte(ark);
    return true;
}

/* Skips the rest of the current array. */
static bool skip_array(struct ark *ark, struct irrun_error *err)
{
    size_t n_bytes = ark->is_text ? 0 : ark->n_left * dtype_size(ark->dtype), n_skipped = 0;
    ark->n_left = ark->n_values = 0;
    ark->shape = (struct irrun_shape){0};
    if (n_bytes != 0 && !source_read(&ark->reader.source, NULL, n_bytes, &n_skipped, err))
        return false;
    return n_skipped == n_bytes || fail_entry(ark, err, "the file is truncated");
}

static bool ark_next(struct reader *reader, struct array_header *header, bool *is_end,
                     struct irrun_error *err)
{
    struct ark *ark = (struct ark *)reader;
    struct byte_source *source = &reader->source;
    if (!skip_array(ark, err))
        return false;
    if (source->offset == 0)
        ark->reader.line = 1; /* 0 from the first binary array on */
    if (!read_key(ark, is_end, err))
        return false;
    if (*is_end)
        return true;
    if (!source_want(source, 2, err))
        return false;
    ark->is_text = source_available(source) < 2 || memcmp(source_bytes(source), "\0B", 2) != 0;
    if (!ark->is_text) {
        source_consume(source, 2);
        ark->reader.line = 0;
    }
    if (!(ark->is_text ? read_text(ark, err) : read_binary_header(ark, err)))
        return false;
    *header = (struct array_header){
        .key = ark->key, .dtype = ark->dtype, .has_shape = true, .shape = ark->shape};
    return true;
}

static bool ark_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                     size_t *n_read, struct irrun_error *err)
{
    struct ark *ark = (struct ark *)reader;
    size_t size_bytes = dtype_size(dtype), got = 0;
    n = n < ark->n_left ? n : ark->n_left;
    *n_read = n;
    if (n == 0)
        return true;
    if (ark->is_text) {
        if (data)
            memcpy(data, ark->values + (ark->n_values - ark->n_left), n * sizeof(float));
    } else {
        if (!source_read(&reader->source, data, n * size_bytes, &got, err))
            return false;
        if (got < n * size_bytes)
            return fail_entry(ark, err, "the file is truncated");
        if (data && !is_little_endian())
            swap_elements(data, size_bytes, n);
    }
    ark->n_left -= n;
    return true;
}

static void ark_reset(struct reader *reader)
{
    struct ark *ark = (struct ark *)reader;
    free(ark->values);
    ark->values = NULL;
    ark->n_left = ark->n_values = ark->capacity = 0;
}

const struct reader_methods ark_reader = {
    .size_bytes = sizeof(struct ark), .next = ark_next, .read = ark_read, .reset = ark_reset};
