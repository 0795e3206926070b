/* Writes npz as numpy.savez does: stored members, the date that means none, so that the same
 * tensors give the same bytes. The members come record by record and are put aside until the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <minizip/zip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format_methods.h"
#include "formats/npy_header.h"
#include "formats/spool.h"
#include "formats/zip_sink.h"

struct npz_out {
    struct writer writer;
    struct spool *spools; /* one per output */
};

static bool npz_open(struct writer *writer, struct irrun_error *err)
{
    struct npz_out *npz = (struct npz_out *)writer;
    size_t n = writer->options.n_outputs;
    npz->spools = calloc(n ? n : 1, sizeof *npz->spools);
    if (npz->spools == NULL)
        return fail_memory(err, n * sizeof *npz->spools);
    /* A device has no folder of its own to put things aside. */
    for (size_t i = 0; i < n; i++)
        npz->spools[i].beside = writer->file.target ? writer->file.target : "-";
    return true;
}

static bool write_to_spool(void *context, const void *data, size_t size_bytes,
                           struct irrun_error *err)
{
    return spool_write(context, data, size_bytes, err);
}

static bool npz_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                      const struct record_label *label, struct irrun_error *err)
{
    (void)label;
    struct npz_out *npz = (struct npz_out *)writer;
    if (!record_form_check(writer, output, record, err))
        return false;
    if (writer->options.layout != WRITER_STACK && writer->forms[output].n_records > 1)
        return fail(err, IRRUN_INTERNAL, "a second record for member \"%s\" of %s, which holds one",
                    writer->names[output], writer->file.path);
    return write_stored_elements(record, write_to_spool, &npz->spools[output], err);
}

/* ---- The archive ----------------------------------------------------------------------------- */

#define DOS_DATE_1980_01_01 (1u << 21 | 1u << 16)
#define MADE_BY_UNIX (3u << 8 | 20u)
#define UNIX_MODE_0600 ((uLong)0100600 << 16)
#define FLAG_UTF8 (1u << 11)
#define ZIP64_FROM_BYTES 0xffff0000u /* a little early: the header counts too */

static bool is_ascii(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

static bool fail_zip(const struct writer *writer, int status, struct irrun_error *err)
{
    return fail_at(err, IRRUN_IO, (struct place){writer->file.path, 0, 0},
                   "the archive cannot be written (%d)", status);
}

static bool begin_member(struct writer *writer, zipFile zip, const char *name, bool is_long,
                         struct irrun_error *err)
{
    char *file_name = NULL;
    if (asprintf(&file_name, "%s.npy", name) < 0)
        return fail_memory(err, strlen(name) + 5);
    zip_fileinfo info = {.dosDate = DOS_DATE_1980_01_01, .external_fa = UNIX_MODE_0600};
    int status = zipOpenNewFileInZip4_64(zip, file_name, &info, NULL, 0, NULL, 0, NULL, 0, 0, 0,
                                         -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0,
                                         MADE_BY_UNIX, is_ascii(name) ? 0 : FLAG_UTF8, is_long);
    free(file_name);
    return status == ZIP_OK || fail_zip(writer, status, err);
}

static bool write_to_member(void *context, const void *data, size_t size_bytes,
                            struct irrun_error *err)
{
    (void)err;
    const unsigned char *at = data;
    while (size_bytes != 0) {
        unsigned step = size_bytes < (1u << 30) ? (unsigned)size_bytes : 1u << 30;
        if (zipWriteInFileInZip(context, at, step) != ZIP_OK)
            return false;
        at += step;
        size_bytes -= step;
    }
    return true;
}

static bool add_member(struct npz_out *npz, zipFile zip, size_t output, struct irrun_error *err)
{
    struct writer *writer = &npz->writer;
    const struct record_form *form = &writer->forms[output];
    struct spool *spool = &npz->spools[output];
    bool is_stack = writer->options.layout == WRITER_STACK;
    struct irrun_shape shape = form->shape;
    if (form->n_records == 0 && !(is_stack && form->is_expected))
        return fail_no_record(writer, output, err);
    if (is_stack &&
        !stacked_shape(form, (int64_t)form->n_records, writer->names[output], &shape, err))
        return false;
    char header[NPY_WRITTEN_HEADER_BYTES];
    size_t n_header;
    npy_header_format(format_stored_dtype(form->dtype), &shape, 0, header, &n_header);
    if (!begin_member(writer, zip, writer->names[output], spool_n_bytes(spool) >= ZIP64_FROM_BYTES,
                      err))
        return false;
    bool is_written =
        write_to_member(zip, header, n_header, err) && spool_read(spool, write_to_member, zip, err);
    int status = zipCloseFileInZip(zip);
    spool_free(spool);
    return (is_written && status == ZIP_OK) || fail_zip(writer, status, err);
}

static bool npz_finish(struct writer *writer, struct irrun_error *err)
{
    struct npz_out *npz = (struct npz_out *)writer;
    struct zip_sink sink = {&writer->file, err, 0};
    zlib_filefunc64_def functions = zip_sink_functions(&sink);
    zipFile zip = zipOpen2_64("", APPEND_STATUS_CREATE, NULL, &functions);
    if (zip == NULL)
        return fail_memory(err, sizeof *npz);
    bool is_written = true;
    for (size_t i = 0; i < writer->options.n_outputs && is_written; i++)
        is_written = add_member(npz, zip, i, err);
    int status = zipClose(zip, writer->comment);
    return is_written && (status == ZIP_OK || fail_zip(writer, status, err));
}

static void npz_release(struct writer *writer)
{
    struct npz_out *npz = (struct npz_out *)writer;
    for (size_t i = 0; i < writer->options.n_outputs && npz->spools; i++)
        spool_free(&npz->spools[i]);
    free(npz->spools);
}

const struct writer_methods npz_writer = {.size_bytes = sizeof(struct npz_out),
                                          .open = npz_open,
                                          .write = npz_write,
                                          .finish = npz_finish,
                                          .release = npz_release};
