/* Reads npy documents, one after another, from a file, a pipe or a member of an npz. An array in
 * Fortran order is read into memory first. npy_writer.c writes npy.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/byte_order.h"
#include "formats/format_internal.h"
#include "formats/npy_header.h"

struct npy {
    struct reader reader;
    struct npy_header header; /* of the current document */
    uint64_t n_documents;     /* started so far */
    size_t n_left;            /* unread elements of the current one */
    /* The last header. Most documents of a stream have the same one, which is parsed once. */
    unsigned char last_text[NPY_WRITTEN_HEADER_BYTES];
    size_t n_last_text; /* 0: none */
    /* For Fortran order: the whole array as stored, and the index of the next element. */
    unsigned char *array;
    int64_t index[IRRUN_MAX_RANK];
};

/* Fails because the input ends `missing` bytes before the end of the array. */
static bool fail_truncated(struct npy *npy, uint64_t missing, struct irrun_error *err)
{
    const struct byte_source *source = &npy->reader.source;
    char shape[SHAPE_TEXT_BYTES];
    uint64_t left = source_left(source);
    uint64_t end = source->offset + (left == UINT64_MAX ? 0 : left);
    fail_at_offset(err, IRRUN_DATA, source->path, end,
                   "the file is truncated: %" PRIu64 " of the %zu bytes of array %s of %s "
                   "are missing",
                   missing, npy->header.n_data_bytes, shape_format(&npy->header.shape, shape),
                   irrun_dtype_name(npy->header.dtype));
    if (npy->reader.name)
        return false;
    return fail_hint(err, "it ends after %" PRIu64 " of %" PRIu64 " bytes: was a copy interrupted?",
                     end, end + missing);
}

/* ---- Headers --------------------------------------------------------------------------------- */

static bool fail_no_document(struct npy *npy, const char *why, struct irrun_error *err)
{
    struct byte_source *source = &npy->reader.source;
    if (npy->n_documents != 0)
        return fail_source(source, err, "the data after the array are not another npy document");
    return (npy->reader.name || reader_check_kind(&npy->reader, "npy", err)) &&
           fail_source(source, err, "%s", why);
}

static bool parse_header(struct npy *npy, size_t text_offset, size_t text_bytes,
                         struct irrun_error *err)
{
    struct byte_source *source = &npy->reader.source;
    const unsigned char *bytes = source_bytes(source);
    size_t total = text_offset + text_bytes;
    if (total == npy->n_last_text && memcmp(bytes, npy->last_text, total) == 0)
        return true;
    npy->n_last_text = 0;
    struct irrun_error problem = {.code = IRRUN_OK};
    if (!npy_header_parse((const char *)bytes + text_offset, text_bytes, &npy->header, &problem)) {
        fail_source(source, err, "%s", problem.message);
        return problem.hint[0] ? fail_hint(err, "%s", problem.hint) : false;
    }
    if (total <= sizeof npy->last_text) {
        memcpy(npy->last_text, bytes, total);
        npy->n_last_text = total;
    }
    return true;
}

static bool fail_truncated_header(struct npy *npy, size_t header_bytes, struct irrun_error *err)
{
    struct byte_source *source = &npy->reader.source;
    size_t n = source_available(source);
    fail_source(source, err, "the file is truncated: it ends inside an npy header");
    return npy->reader.name
               ? false
               : fail_hint(err, "it ends %zu bytes into a header of %zu: was a copy interrupted?",
                           n, header_bytes);
}

static bool read_header(struct npy *npy, struct irrun_error *err)
{
    struct byte_source *source = &npy->reader.source;
    size_t text_offset, text_bytes;
    const char *why;
    if (!source_want(source, NPY_PREFIX_BYTES, err))
        return false;
    if (!npy_prefix_parse(source_bytes(source), source_available(source), &text_offset, &text_bytes,
                          &why))
        return fail_no_document(npy, why, err);
    if (!source_want(source, text_offset + text_bytes, err))
        return false;
    if (source_available(source) < text_offset + text_bytes)
        return fail_truncated_header(npy, text_offset + text_bytes, err);
    if (!parse_header(npy, text_offset, text_bytes, err))
        return false;
    source_consume(source, text_offset + text_bytes);
    uint64_t left = source_left(source);
    if (left != UINT64_MAX && left < npy->header.n_data_bytes)
        return fail_truncated(npy, npy->header.n_data_bytes - left, err);
    if (npy->reader.name && left != npy->header.n_data_bytes)
        return fail_source(source, err, "the member is longer than its array");
    return true;
}

/* Skips the rest of the current document. */
static bool skip_document(struct npy *npy, struct irrun_error *err)
{
    size_t n_bytes = npy->array ? 0 : npy->n_left * dtype_size(npy->header.dtype);
    size_t n_skipped = 0;
    free(npy->array);
    npy->array = NULL;
    npy->n_left = 0;
    if (n_bytes != 0 && !source_read(&npy->reader.source, NULL, n_bytes, &n_skipped, err))
        return false;
    return n_skipped == n_bytes || fail_truncated(npy, n_bytes - n_skipped, err);
}

static bool npy_next(struct reader *reader, struct array_header *header, bool *is_end,
                     struct irrun_error *err)
{
    struct npy *npy = (struct npy *)reader;
    struct byte_source *source = &reader->source;
    if (!skip_document(npy, err) || !source_want(source, 1, err))
        return false;
    *is_end = npy->n_documents != 0 && source_available(source) == 0;
    if (*is_end)
        return true;
    if (source_available(source) == 0)
        return fail_source(source, err, "is empty; an npy document was expected");
    if (!read_header(npy, err))
        return false;
    npy->n_documents++;
    npy->n_left = (size_t)shape_n_elements(&npy->header.shape);
    memset(npy->index, 0, sizeof npy->index);
    *header = (struct array_header){.name = reader->name,
                                    .dtype = npy->header.dtype,
                                    .has_shape = true,
                                    .shape = npy->header.shape};
    return true;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* Converts the elements to native byte order, and booleans to 0 or 1. */
static void normalise(const struct npy_header *header, unsigned char *data, size_t n)
{
    if (header->is_swapped)
        swap_elements(data, dtype_size(header->dtype), n);
    if (header->dtype == IRRUN_BOOLEAN)
        for (size_t i = 0; i < n; i++)
            data[i] = data[i] != 0;
}

/* Loads the whole array. Memory grows with the data read, not with the size in the header. */
static bool load_array(struct npy *npy, struct irrun_error *err)
{
    size_t size_bytes = npy->header.n_data_bytes;
    size_t n = 0, capacity = 0;
    while (n < size_bytes) {
        size_t step = capacity < SOURCE_BUFFER_BYTES ? SOURCE_BUFFER_BYTES : capacity;
        capacity = size_bytes - capacity > step ? capacity + step : size_bytes;
        unsigned char *array = realloc(npy->array, capacity);
        if (array == NULL)
            return fail_memory(err, capacity);
        npy->array = array;
        size_t n_read = 0;
        if (!source_read(&npy->reader.source, array + n, capacity - n, &n_read, err))
            return false;
        n += n_read;
        if (n < capacity)
            return fail_truncated(npy, size_bytes - n, err);
    }
    return true;
}

/* Copies the next n elements in C order; skips them if data is NULL. */
static void gather(struct npy *npy, unsigned char *data, size_t n)
{
    const struct irrun_shape *shape = &npy->header.shape;
    size_t size_bytes = dtype_size(npy->header.dtype);
    for (size_t i = 0; i < n; i++) {
        int64_t offset = 0;
        for (uint32_t axis = shape->rank; axis-- > 0;)
            offset = offset * shape->dims[axis] + npy->index[axis];
        if (data)
            memcpy(data + i * size_bytes, npy->array + (size_t)offset * size_bytes, size_bytes);
        for (uint32_t axis = shape->rank; axis-- > 0;) {
            if (++npy->index[axis] < shape->dims[axis])
                break;
            npy->index[axis] = 0;
        }
    }
}

static bool npy_read(struct reader *reader, enum irrun_dtype dtype, void *data, size_t n,
                     size_t *n_read, struct irrun_error *err)
{
    struct npy *npy = (struct npy *)reader;
    size_t size_bytes = dtype_size(dtype);
    n = n < npy->n_left ? n : npy->n_left;
    *n_read = n;
    if (n == 0)
        return true;
    if (npy->header.is_fortran) {
        if (npy->array == NULL && !load_array(npy, err))
            return false;
        gather(npy, data, n);
    } else {
        size_t got = 0;
        if (!source_read(&reader->source, data, n * size_bytes, &got, err))
            return false;
        if (got < n * size_bytes)
            return fail_truncated(npy, npy->n_left * size_bytes - got, err);
    }
    npy->n_left -= n;
    if (data)
        normalise(&npy->header, data, n);
    return true;
}

static void npy_reset(struct reader *reader)
{
    struct npy *npy = (struct npy *)reader;
    free(npy->array);
    npy->array = NULL;
    npy->n_left = 0;
    npy->n_documents = 0;
}

const struct reader_methods npy_reader = {
    .size_bytes = sizeof(struct npy), .next = npy_next, .read = npy_read, .reset = npy_reset};
