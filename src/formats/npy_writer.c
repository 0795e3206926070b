/* Writes npy. A file holds one array; the number of stacked records is written into its header at
 * the end. A pipe or a device gets one array per record.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "formats/format_internal.h"
#include "formats/npy_header.h"

struct npy_out {
    struct writer writer;
    char header[NPY_WRITTEN_HEADER_BYTES]; /* the last one formatted */
    size_t n_header;
    struct irrun_shape shape; /* of its array */
    enum irrun_dtype dtype;
};

static void make_header(struct npy_out *npy, enum irrun_dtype dtype,
                        const struct irrun_shape *shape, size_t min_bytes)
{
    bool is_same = npy->n_header != 0 && npy->dtype == dtype && shape_equals(&npy->shape, shape);
    if (is_same)
        return;
    npy->dtype = dtype;
    npy->shape = *shape;
    npy_header_format(format_stored_dtype(dtype), shape, min_bytes, npy->header, &npy->n_header);
}

static bool write_elements(struct output_file *file, const struct irrun_tensor *record,
                           struct irrun_error *err)
{
    return write_converted(record, format_stored_dtype(record->dtype), false, write_to_file, file,
                           err);
}

static bool write_array(struct npy_out *npy, const struct irrun_tensor *record,
                        struct irrun_error *err)
{
    struct output_file *file = &npy->writer.file;
    make_header(npy, record->dtype, &record->shape, 0);
    return output_file_write(file, npy->header, npy->n_header, err) &&
           write_elements(file, record, err);
}

/* Formats a header with room for any number of records. */
static bool reserve_header(struct npy_out *npy, struct irrun_error *err)
{
    const struct record_type *type = &npy->writer.types[0];
    struct irrun_shape shape;
    if (!stacked_shape(&type->shape, INT64_MAX, npy->writer.names[0], &shape, err))
        return false;
    make_header(npy, type->dtype, &shape, 0);
    return true;
}

static bool npy_resume(struct writer *writer, struct irrun_error *err)
{
    return writer->options.layout != WRITER_STACK || reserve_header((struct npy_out *)writer, err);
}

static bool write_in_stack(struct npy_out *npy, const struct irrun_tensor *record,
                           struct irrun_error *err)
{
    struct writer *writer = &npy->writer;
    if (npy->n_header == 0 && (!reserve_header(npy, err) ||
                               !output_file_write(&writer->file, npy->header, npy->n_header, err)))
        return false;
    return write_elements(&writer->file, record, err);
}

static bool npy_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                      const struct record_label *label, struct irrun_error *err)
{
    (void)label;
    assert(output == 0);
    struct npy_out *npy = (struct npy_out *)writer;
    if (writer->file.is_direct) {
        writer->types[0].n_records++;
        return write_array(npy, record, err);
    }
    if (!record_type_check(writer, output, record, err))
        return false;
    if (writer->options.layout == WRITER_STACK)
        return write_in_stack(npy, record, err);
    if (writer->types[0].n_records > 1)
        return fail(err, IRRUN_INTERNAL, "a second record for %s, which can hold only one",
                    writer->file.path);
    return write_array(npy, record, err);
}

static bool npy_finish(struct writer *writer, struct irrun_error *err)
{
    struct npy_out *npy = (struct npy_out *)writer;
    const struct record_type *type = &writer->types[0];
    struct irrun_shape shape;
    if (writer->file.is_direct)
        return true;
    bool is_stack = writer->options.layout == WRITER_STACK;
    if (type->n_records == 0 && !(is_stack && type->is_expected))
        return fail_no_record(writer, 0, err);
    if (!is_stack)
        return true;
    if (!stacked_shape(&type->shape, (int64_t)type->n_records, writer->names[0], &shape, err))
        return false;
    size_t n_reserved = npy->n_header;
    make_header(npy, type->dtype, &shape, n_reserved);
    assert(n_reserved == 0 || npy->n_header == n_reserved);
    return n_reserved == 0 ? output_file_write(&writer->file, npy->header, npy->n_header, err)
                           : output_file_patch(&writer->file, 0, npy->header, npy->n_header, err);
}

const struct writer_methods npy_writer = {.size_bytes = sizeof(struct npy_out),
                                          .resume = npy_resume,
                                          .write = npy_write,
                                          .finish = npy_finish};
