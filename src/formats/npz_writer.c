/* Writes npz like numpy.savez: stored members with a fixed date, so that the same tensors give the
 * same bytes. The records of each member are spooled until the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <zlib.h>

#include "base/arena.h"
#include "formats/format_internal.h"
#include "formats/npy_header.h"
#include "formats/spool.h"
#include "formats/zip_writer.h"

/* The spooled elements of an output. */
struct npz_member {
    struct spool spool;
    uLong crc; /* of the spooled bytes */
};

struct npz_out {
    struct writer writer;
    struct npz_member *members; /* for each output */
};

static bool npz_open(struct writer *writer, struct irrun_error *err)
{
    struct npz_out *npz = (struct npz_out *)writer;
    size_t n = writer->options.n_outputs;
    npz->members = new_array(n, sizeof *npz->members, err);
    if (npz->members == NULL)
        return false;
    /* A device has no target: "-" means the directory for temporary files. */
    for (size_t i = 0; i < n; i++)
        npz->members[i].spool.beside = writer->file.target ? writer->file.target : "-";
    return true;
}

static bool write_to_member(void *context, const void *data, size_t size_bytes,
                            struct irrun_error *err)
{
    struct npz_member *member = context;
    if (size_bytes != 0)
        member->crc = crc32_z(member->crc, data, size_bytes);
    return spool_write(&member->spool, data, size_bytes, err);
}

static bool npz_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                      const struct record_label *label, struct irrun_error *err)
{
    (void)label;
    struct npz_out *npz = (struct npz_out *)writer;
    if (!record_type_check(writer, output, record, err))
        return false;
    if (writer->options.layout != WRITER_STACK && writer->types[output].n_records > 1)
        return fail(err, IRRUN_INTERNAL,
                    "a second record for member \"%s\" of %s, which can hold only one",
                    writer->names[output], writer->file.path);
    return write_converted(record, format_stored_dtype(record->dtype), false, write_to_member,
                           &npz->members[output], err);
}

/* ---- The archive ----------------------------------------------------------------------------- */

static bool begin_member(struct zip_writer *zip, const char *name, const char *header,
                         size_t n_header, const struct npz_member *member, struct irrun_error *err)
{
    struct text file_name = {0};
    uint64_t n_data_bytes = spool_n_bytes(&member->spool);
    uLong crc = crc32_z(0, (const unsigned char *)header, n_header);
    crc = crc32_combine(crc, member->crc, (z_off_t)n_data_bytes);
    text_add(&file_name, "%s.npy", name);
    bool is_begun =
        text_check(&file_name, err) &&
        zip_writer_add(zip, file_name.data, n_header + n_data_bytes, (uint32_t)crc, err) &&
        output_file_write(zip->out, header, n_header, err);
    text_free(&file_name);
    return is_begun;
}

static bool add_member(struct npz_out *npz, struct zip_writer *zip, size_t output,
                       struct irrun_error *err)
{
    struct writer *writer = &npz->writer;
    const struct record_type *type = &writer->types[output];
    struct npz_member *member = &npz->members[output];
    bool is_stack = writer->options.layout == WRITER_STACK;
    struct irrun_shape shape = type->shape;
    if (type->n_records == 0 && !(is_stack && type->is_expected))
        return fail_no_record(writer, output, err);
    if (is_stack &&
        !stacked_shape(&type->shape, (int64_t)type->n_records, writer->names[output], &shape, err))
        return false;
    char header[NPY_WRITTEN_HEADER_BYTES];
    size_t n_header;
    npy_header_format(format_stored_dtype(type->dtype), &shape, 0, header, &n_header);
    bool is_added = begin_member(zip, writer->names[output], header, n_header, member, err) &&
                    spool_read(&member->spool, write_to_file, zip->out, err);
    spool_free(&member->spool);
    return is_added;
}

static bool npz_finish(struct writer *writer, struct irrun_error *err)
{
    struct npz_out *npz = (struct npz_out *)writer;
    struct zip_writer zip = {.out = &writer->file};
    bool is_written = true;
    for (size_t i = 0; i < writer->options.n_outputs && is_written; i++)
        is_written = add_member(npz, &zip, i, err);
    is_written = is_written && zip_writer_finish(&zip, writer->comment, err);
    zip_writer_free(&zip);
    return is_written;
}

static void npz_release(struct writer *writer)
{
    struct npz_out *npz = (struct npz_out *)writer;
    for (size_t i = 0; i < writer->options.n_outputs && npz->members; i++)
        spool_free(&npz->members[i].spool);
    free(npz->members);
}

const struct writer_methods npz_writer = {.size_bytes = sizeof(struct npz_out),
                                          .open = npz_open,
                                          .write = npz_write,
                                          .finish = npz_finish,
                                          .release = npz_release};
