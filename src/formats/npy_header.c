/* The header of an npy document: a Python dictionary, parsed only in the form that NumPy writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/npy_header.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "formats/byte_order.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6

bool npy_prefix_parse(const unsigned char *prefix, size_t n, size_t *text_offset,
                      size_t *text_bytes, const char **why)
{
    if (n < 10 || memcmp(prefix, MAGIC, MAGIC_BYTES) != 0) {
        *why = "is not an npy document";
        return false;
    }
    unsigned major = prefix[6];
    if (major < 1 || major > 3 || prefix[7] != 0) {
        *why = "is an npy document of an unknown version";
        return false;
    }
    *text_offset = major == 1 ? 10 : 12;
    if (n < *text_offset) {
        *why = "ends inside an npy header";
        return false;
    }
    *text_bytes = major == 1 ? little_u16(prefix + 8) : little_u32(prefix + 8);
    if (*text_bytes > NPY_MAX_HEADER_BYTES - *text_offset) {
        *why = "has an npy header that is too long";
        return false;
    }
    return true;
}

/* ---- The literal ----------------------------------------------------------------------------- */

static void skip_blanks(struct slice *literal)
{
    while (literal->at < literal->end && strchr(" \t\r\n", *literal->at) && *literal->at != '\0')
        literal->at++;
}

static bool match_char(struct slice *literal, char c)
{
    skip_blanks(literal);
    if (literal->at == literal->end || *literal->at != c)
        return false;
    literal->at++;
    return true;
}

static bool parse_word(struct slice *literal, const char *word)
{
    skip_blanks(literal);
    size_t length = strlen(word);
    if (slice_length(*literal) < length || memcmp(literal->at, word, length) != 0)
        return false;
    literal->at += length;
    return true;
}

/* Parses a string without escapes, in single or double quotes. */
static bool parse_string(struct slice *literal, const char **text, size_t *length)
{
    skip_blanks(literal);
    if (literal->at == literal->end || (*literal->at != '\'' && *literal->at != '"'))
        return false;
    char quote = *literal->at++;
    *text = literal->at;
    const char *close = memchr(literal->at, quote, slice_length(*literal));
    if (close == NULL)
        return false;
    *length = (size_t)(close - literal->at);
    literal->at = close + 1;
    return memchr(*text, '\\', *length) == NULL;
}

static bool fail_header(struct irrun_error *err, const char *what)
{
    return fail(err, IRRUN_DATA, "malformed npy header: %s", what);
}

static bool parse_dim(struct slice *literal, int64_t *dim, struct irrun_error *err)
{
    skip_blanks(literal);
    const char *start = literal->at;
    while (literal->at < literal->end && text_is_digit(*literal->at))
        literal->at++;
    size_t length = (size_t)(literal->at - start);
    if (length == 0)
        return fail_header(err, "a dimension is not a whole number");
    if (!text_to_i64(start, length, dim))
        return fail(err, IRRUN_DATA, "npy header: dimension %.*s is too large",
                    (int)(length < 40 ? length : 40), start);
    /* Python 2 wrote an L after long integers. */
    if (literal->at < literal->end && *literal->at == 'L')
        literal->at++;
    return true;
}

static bool parse_shape(struct slice *literal, struct irrun_shape *shape, struct irrun_error *err)
{
    if (!match_char(literal, '('))
        return fail_header(err, "the shape is not a tuple");
    shape->rank = 0;
    while (!match_char(literal, ')')) {
        if (shape->rank == IRRUN_MAX_RANK)
            return fail(err, IRRUN_DATA, "npy header: the array has more than %d dimensions",
                        IRRUN_MAX_RANK);
        if (!parse_dim(literal, &shape->dims[shape->rank], err))
            return false;
        shape->rank++;
        bool is_followed = match_char(literal, ',');
        skip_blanks(literal);
        if (!is_followed && (literal->at == literal->end || *literal->at != ')'))
            return fail_header(err, "the shape is not a tuple of numbers");
        if (!is_followed && shape->rank == 1)
            return fail_header(err, "the shape is not a tuple");
    }
    return true;
}

/* ---- Types ----------------------------------------------------------------------------------- */

static const struct type_code {
    const char *code;
    enum irrun_dtype dtype;
} type_codes[] = {
    {"f2", IRRUN_F16}, {"f4", IRRUN_F32}, {"f8", IRRUN_F64}, {"b1", IRRUN_BOOLEAN},
    {"i1", IRRUN_I8},  {"i2", IRRUN_I16}, {"i4", IRRUN_I32}, {"i8", IRRUN_I64},
    {"u1", IRRUN_U8},  {"u2", IRRUN_U16}, {"u4", IRRUN_U32}, {"u8", IRRUN_U64},
};
#define N_TYPE_CODES (sizeof type_codes / sizeof type_codes[0])

static const struct unsupported_kind {
    char kind;
    const char *what;
} unsupported_kinds[] = {
    {'c', "complex numbers"}, {'O', "Python objects"}, {'U', "text"},
    {'S', "byte strings"},    {'a', "byte strings"},   {'M', "dates"},
    {'m', "time spans"},      {'V', "raw records"},    {'f', "floats of another size"},
};

static bool fail_type(const char *descr, size_t length, struct irrun_error *err)
{
    int shown = (int)(length < 60 ? length : 60);
    char kind = length > 1 ? descr[1] : '\0';
    for (size_t i = 0; i < sizeof unsupported_kinds / sizeof unsupported_kinds[0]; i++) {
        if (unsupported_kinds[i].kind != kind)
            continue;
        fail(err, IRRUN_DATA, "the array holds %s (descr '%.*s'); irrun reads numbers and booleans",
             unsupported_kinds[i].what, shown, descr);
        return fail_hint(err, kind == 'V' ? "bfloat16 and 8-bit floats: save a.astype('float32')"
                                          : "convert it, for example with a.astype('float32')");
    }
    return fail(err, IRRUN_DATA, "the array has an unknown type (descr '%.*s')", shown, descr);
}

static bool parse_type(const char *descr, size_t length, struct npy_header *header,
                       struct irrun_error *err)
{
    bool is_known_order = length == 3 && strchr("<>|=", descr[0]) && descr[0] != '\0';
    size_t i = 0;
    while (i < N_TYPE_CODES && !(is_known_order && memcmp(descr + 1, type_codes[i].code, 2) == 0))
        i++;
    if (i == N_TYPE_CODES)
        return fail_type(descr, length, err);
    header->dtype = type_codes[i].dtype;
    size_t size_bytes = dtype_size(header->dtype);
    if (descr[0] == '|' && size_bytes > 1)
        return fail_header(err, "the type has no byte order");
    char native = is_little_endian() ? '<' : '>';
    header->is_swapped = size_bytes > 1 && descr[0] != native && descr[0] != '=';
    return true;
}

static bool parse_descr(struct slice *literal, struct npy_header *header, struct irrun_error *err)
{
    const char *descr;
    size_t length;
    skip_blanks(literal);
    if (literal->at < literal->end && (*literal->at == '[' || *literal->at == '(')) {
        fail(err, IRRUN_DATA, "the array is structured (its elements are records with fields)");
        return fail_hint(err, "save each field as an array: a['FIELD']");
    }
    if (!parse_string(literal, &descr, &length))
        return fail_header(err, "descr is not a string");
    return parse_type(descr, length, header, err);
}

/* ---- The dictionary -------------------------------------------------------------------------- */

enum key { KEY_DESCR, KEY_ORDER, KEY_SHAPE, N_KEYS };
static const char *const key_names[N_KEYS] = {"descr", "fortran_order", "shape"};

static bool parse_value(struct slice *literal, enum key key, struct npy_header *header,
                        struct irrun_error *err)
{
    if (key == KEY_DESCR)
        return parse_descr(literal, header, err);
    if (key == KEY_SHAPE)
        return parse_shape(literal, &header->shape, err);
    header->is_fortran = parse_word(literal, "True");
    return header->is_fortran || parse_word(literal, "False") ||
           fail_header(err, "fortran_order is neither True nor False");
}

static bool parse_item(struct slice *literal, struct npy_header *header, unsigned *seen,
                       struct irrun_error *err)
{
    const char *name;
    size_t length;
    if (!parse_string(literal, &name, &length))
        return fail_header(err, "a key is not a string");
    for (unsigned key = 0; key < N_KEYS; key++) {
        if (strlen(key_names[key]) != length || memcmp(key_names[key], name, length) != 0)
            continue;
        if (*seen & 1u << key)
            return fail_header(err, "a key occurs twice");
        *seen |= 1u << key;
        if (!match_char(literal, ':'))
            return fail_header(err, "a key has no value");
        return parse_value(literal, (enum key)key, header, err);
    }
    return fail_header(err, "there are keys other than descr, fortran_order and shape");
}

/* Returns whether Fortran order and C order are the same: at most one dimension is not 1. */
static bool is_either_order(const struct irrun_shape *shape)
{
    unsigned n_long = 0;
    for (uint32_t i = 0; i < shape->rank; i++)
        n_long += shape->dims[i] != 1;
    return n_long <= 1;
}

bool npy_header_parse(const char *text, size_t n, struct npy_header *header,
                      struct irrun_error *err)
{
    struct slice literal = {text, text + n};
    unsigned seen = 0;
    if (!match_char(&literal, '{'))
        return fail_header(err, "it is not a dictionary");
    while (!match_char(&literal, '}')) {
        if (!parse_item(&literal, header, &seen, err))
            return false;
        bool is_followed = match_char(&literal, ',');
        skip_blanks(&literal);
        if (!is_followed && (literal.at == literal.end || *literal.at != '}'))
            return fail_header(err, "the dictionary is not closed");
    }
    skip_blanks(&literal);
    if (literal.at != literal.end)
        return fail_header(err, "there is text after the dictionary");
    if (seen != (1u << N_KEYS) - 1)
        return fail_header(err, "descr, fortran_order or shape is missing");
    if (!tensor_size(header->dtype, &header->shape, &header->n_data_bytes)) {
        char shape[SHAPE_TEXT_BYTES];
        return fail(err, IRRUN_DATA, "npy header: shape %s is too large",
                    shape_format(&header->shape, shape));
    }
    header->is_fortran = header->is_fortran && !is_either_order(&header->shape);
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static const char *type_code_of(enum irrun_dtype dtype)
{
    size_t i = 0;
    while (i + 1 < N_TYPE_CODES && type_codes[i].dtype != dtype)
        i++;
    assert(type_codes[i].dtype == dtype);
    return type_codes[i].code;
}

void npy_header_format(enum irrun_dtype dtype, const struct irrun_shape *shape, size_t min_bytes,
                       char out[NPY_WRITTEN_HEADER_BYTES], size_t *n)
{
    char order = dtype_size(dtype) == 1 ? '|' : is_little_endian() ? '<' : '>';
    size_t length = 10;
    length += (size_t)snprintf(out + length, NPY_WRITTEN_HEADER_BYTES - length,
                               "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order,
                               type_code_of(dtype));
    for (uint32_t i = 0; i < shape->rank; i++)
        length += (size_t)snprintf(out + length, NPY_WRITTEN_HEADER_BYTES - length, "%s%" PRId64,
                                   i == 0 ? "" : ", ", shape->dims[i]);
    length += (size_t)snprintf(out + length, NPY_WRITTEN_HEADER_BYTES - length, "%s), }",
                               shape->rank == 1 ? "," : "");
    /* The longest header, of 16 dimensions of 19 digits, has 399 bytes before the padding. */
    size_t total = (length + 1 + 63) / 64 * 64;
    total = total > min_bytes ? total : min_bytes;
    assert(total <= NPY_WRITTEN_HEADER_BYTES);
    memset(out + length, ' ', total - length);
    out[total - 1] = '\n';
    memcpy(out, MAGIC "\1", 8); /* the minor version 0 is the NUL of the string */
    put_little((unsigned char *)out + 8, total - 10, 2);
    *n = total;
}
