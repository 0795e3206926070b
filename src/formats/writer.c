/* Implements what all writers share: opening, checking the type and shape of records, concatenating
 * the records of a sequence, finishing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formats/byte_order.h"
#include "formats/format_internal.h"
#include "formats/joiner.h"

/* ---- Opening and closing --------------------------------------------------------------------- */

void writer_abort(struct writer *writer)
{
    if (!writer)
        return;
    size_t n = writer->options.n_outputs;
    if (writer->methods->release)
        writer->methods->release(writer);
    output_file_abort(&writer->file);
    for (size_t i = 0; i < n && writer->names; i++)
        free(writer->names[i]);
    for (size_t i = 0; i < n && writer->joiners; i++)
        joiner_free(&writer->joiners[i]);
    free(writer->names);
    free(writer->types);
    free(writer->joiners);
    free(writer->comment);
    free(writer->sequence);
    free(writer);
}

static bool copy_options(struct writer *writer, const struct writer_options *options,
                         struct irrun_error *err)
{
    size_t n = options->n_outputs;
    writer->options = *options;
    writer->names = new_array(n, sizeof *writer->names, err);
    writer->types = new_array(n, sizeof *writer->types, err);
    if (writer->names == NULL || writer->types == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        writer->names[i] = strdup(options->names[i]);
        if (writer->names[i] == NULL)
            return fail_memory(err, strlen(options->names[i]) + 1);
    }
    if (options->comment) {
        writer->comment = strdup(options->comment);
        if (writer->comment == NULL)
            return fail_memory(err, strlen(options->comment) + 1);
    }
    bool is_joined = options->layout == WRITER_CONCAT ||
                     (options->layout == WRITER_STACK && writer->methods->needs_whole_sequences);
    if (!is_joined)
        return true;
    writer->joiners = new_array(n, sizeof *writer->joiners, err);
    return writer->joiners != NULL;
}

bool writer_check_path(const struct format *format, const char *path, struct irrun_error *err)
{
    if (strcmp(path, "-") != 0 || format->can_pipe)
        return true;
    fail(err, IRRUN_USAGE, "%s cannot be written to standard output", format->name);
    return fail_hint(err, "give it a file name, or write npy:-");
}

static bool open_file(struct writer *writer, const struct format *format, const char *path,
                      struct irrun_error *err)
{
    struct output_file *file = &writer->file;
    if (!writer_check_path(format, path, err))
        return false;
    const struct writer_position *start = writer->options.resume_at;
    if (!(writer->options.is_resumable
              ? output_file_open_partial(file, path, start ? start->size_bytes : 0, err)
              : output_file_open(file, path, err)))
        return false;
    file->is_synced = writer->options.is_synced;
    bool is_text = writer->options.is_text_variant;
    if (format->is_binary && !is_text && file->is_direct && output_file_is_terminal(file)) {
        fail(err, IRRUN_USAGE, "%s cannot be written to a terminal", format->name);
        return fail_hint(err, "append | cat to write it anyway; text:- shows numbers");
    }
    if (!format->can_pipe && file->is_direct && output_file_is_pipe(file))
        return fail(err, IRRUN_USAGE, "%s cannot be written to a pipe (%s)", format->name, path);
    return true;
}

/* Resumes where an earlier process stopped. */
static bool resume(struct writer *writer, struct irrun_error *err)
{
    const struct writer_position *start = writer->options.resume_at;
    writer->options.resume_at = NULL;
    if (start == NULL || start->dtype == IRRUN_DYNAMIC || writer->options.n_outputs == 0)
        return true;
    writer->types[0] = (struct record_type){.is_known = true,
                                            .dtype = start->dtype,
                                            .shape = start->shape,
                                            .n_records = start->n_records};
    return !writer->methods->resume || writer->methods->resume(writer, err);
}

bool writer_pause(struct writer *writer, struct writer_position *position, struct irrun_error *err)
{
    const struct record_type *type = writer->options.n_outputs > 0 ? &writer->types[0] : NULL;
    assert(writer->joiners == NULL);
    *position = (struct writer_position){.dtype = IRRUN_DYNAMIC};
    if (writer->methods == &none_writer)
        return true;
    position->size_bytes = writer->file.offset;
    if (type && type->is_known) {
        position->dtype = type->dtype;
        position->shape = type->shape;
        position->n_records = type->n_records;
    }
    return output_file_sync(&writer->file, err);
}

bool writer_open(const struct format *format, const char *path,
                 const struct writer_options *options, struct writer **writer,
                 struct irrun_error *err)
{
    assert(format->writer);
    const struct writer_methods *methods = format->writer;
    struct writer *made = calloc(1, methods->size_bytes);
    *writer = NULL;
    if (made == NULL)
        return fail_memory(err, methods->size_bytes);
    made->methods = methods;
    bool needs_file = methods != &none_writer;
    if (!copy_options(made, options, err) || (needs_file && !open_file(made, format, path, err)) ||
        (methods->open && !methods->open(made, err)) || !resume(made, err)) {
        writer_abort(made);
        return false;
    }
    *writer = made;
    return true;
}

/* ---- Records --------------------------------------------------------------------------------- */

void writer_expect(struct writer *writer, size_t output, enum irrun_dtype dtype,
                   const struct irrun_shape *shape)
{
    struct record_type *type = &writer->types[output];
    if (!type->is_known)
        *type = (struct record_type){.dtype = dtype, .shape = *shape, .is_expected = true};
}

bool record_type_check(struct writer *writer, size_t output, const struct irrun_tensor *record,
                       struct irrun_error *err)
{
    struct record_type *type = &writer->types[output];
    if (!type->is_known)
        *type =
            (struct record_type){.is_known = true, .dtype = record->dtype, .shape = record->shape};
    char earlier[SHAPE_TEXT_BYTES], later[SHAPE_TEXT_BYTES];
    if (type->dtype != record->dtype || !shape_equals(&type->shape, &record->shape)) {
        fail(err, IRRUN_DATA,
             "output \"%s\": record %" PRIu64 " is %s %s, but those before it are %s %s: %s cannot "
             "hold both",
             writer->names[output], type->n_records, irrun_dtype_name(record->dtype),
             shape_format(&record->shape, later), irrun_dtype_name(type->dtype),
             shape_format(&type->shape, earlier), writer->file.path);
        return fail_hint(err, "text, and npy on a pipe, write each record with its own shape");
    }
    type->n_records++;
    return true;
}

bool stacked_shape(const struct irrun_shape *record, int64_t n_records, const char *name,
                   struct irrun_shape *shape, struct irrun_error *err)
{
    char text[SHAPE_TEXT_BYTES];
    if (record->rank == IRRUN_MAX_RANK)
        return fail(err, IRRUN_DATA, "output \"%s\" is %s: a stack would have too many dimensions",
                    name, shape_format(record, text));
    shape->rank = record->rank + 1;
    shape->dims[0] = n_records;
    memcpy(shape->dims + 1, record->dims, record->rank * sizeof(int64_t));
    return true;
}

bool fail_no_record(const struct writer *writer, size_t output, struct irrun_error *err)
{
    return fail(err, IRRUN_DATA, "output \"%s\": there is no record to write to %s",
                writer->names[output], writer->file.path);
}

bool writer_end_record(struct writer *writer, struct irrun_error *err)
{
    output_file_end_record(&writer->file);
    return !writer->options.is_flushed || output_file_flush(&writer->file, err);
}

bool writer_flush(struct writer *writer, struct irrun_error *err)
{
    return !writer->file.is_direct || output_file_flush(&writer->file, err);
}

/* Writes the concatenated records at the end of their sequence. */
static bool write_joined(struct writer *writer, struct irrun_error *err)
{
    struct record_label label = {writer->sequence ? writer->sequence : "-", 0};
    for (size_t i = 0; i < writer->options.n_outputs; i++) {
        struct irrun_tensor whole;
        if (joiner_is_empty(&writer->joiners[i]))
            continue;
        if (!joiner_result(&writer->joiners[i], &whole, err) ||
            !writer->methods->write(writer, i, &whole, &label, err))
            return false;
    }
    writer_drop_sequence(writer);
    return writer_end_record(writer, err);
}

static bool join(struct writer *writer, size_t output, const struct irrun_tensor *record,
                 const struct record_label *label, struct irrun_error *err)
{
    if (writer->sequence && strcmp(writer->sequence, label->sequence) != 0 &&
        !write_joined(writer, err))
        return false;
    if (writer->sequence == NULL) {
        writer->sequence = strdup(label->sequence);
        if (writer->sequence == NULL)
            return fail_memory(err, strlen(label->sequence) + 1);
    }
    if (writer->options.layout == WRITER_STACK)
        return joiner_stack(&writer->joiners[output], record, writer->names[output], err);
    return joiner_concat(&writer->joiners[output], record, writer->options.concat_axis,
                         writer->names[output], err);
}

/* Rejects a record if the format cannot store an array of its rank, or of the rank of a stack. */
static bool check_rank(const struct writer *writer, size_t output,
                       const struct irrun_tensor *record, struct irrun_error *err)
{
    const struct writer_methods *methods = writer->methods;
    bool is_stack = writer->options.layout == WRITER_STACK;
    uint32_t rank = record->shape.rank + is_stack;
    char shape[SHAPE_TEXT_BYTES];
    if (methods->max_rank == 0 || (rank >= methods->min_rank && rank <= methods->max_rank))
        return true;
    fail(err, IRRUN_USAGE, "output \"%s\" is %s%s: %s holds arrays of %u to %u dimensions",
         writer->names[output], shape_format(&record->shape, shape), is_stack ? " per record" : "",
         writer->file.path, methods->min_rank, methods->max_rank);
    return is_stack ? fail_hint(err, "--concat=0 joins the records along their first axis") : false;
}

bool writer_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                  const struct record_label *label, struct irrun_error *err)
{
    assert(output < writer->options.n_outputs);
    if (!check_rank(writer, output, record, err))
        return false;
    if (writer->joiners)
        return join(writer, output, record, label, err);
    return writer->methods->write(writer, output, record, label, err);
}

bool writer_end_sequence(struct writer *writer, struct irrun_error *err)
{
    return writer->joiners == NULL || write_joined(writer, err);
}

void writer_drop_sequence(struct writer *writer)
{
    for (size_t i = 0; i < writer->options.n_outputs && writer->joiners; i++)
        joiner_clear(&writer->joiners[i]);
    free(writer->sequence);
    writer->sequence = NULL;
}

bool writer_is_direct(const struct writer *writer)
{
    return writer->methods != &none_writer && writer->file.is_direct;
}

bool writer_finish(struct writer *writer, struct irrun_error *err)
{
    bool has_file = writer->methods != &none_writer;
    bool is_finished = writer_end_sequence(writer, err) &&
                       (!writer->methods->finish || writer->methods->finish(writer, err)) &&
                       (!has_file || output_file_finish(&writer->file, err));
    writer_abort(writer); /* frees; a finished file stays */
    return is_finished;
}

/* ---- none, and types that NumPy lacks -------------------------------------------------------- */

static bool none_write(struct writer *writer, size_t output, const struct irrun_tensor *record,
                       const struct record_label *label, struct irrun_error *err)
{
    (void)writer;
    (void)output;
    (void)record;
    (void)label;
    (void)err;
    return true;
}

const struct writer_methods none_writer = {.size_bytes = sizeof(struct writer),
                                           .write = none_write};

enum irrun_dtype format_stored_dtype(enum irrun_dtype dtype)
{
    switch (dtype) {
    case IRRUN_BF16:
    case IRRUN_F8E4M3:
    case IRRUN_F8E5M2:
    case IRRUN_F4E2M1:
    case IRRUN_F8E8M0:
        return IRRUN_F32;
    case IRRUN_I4:
        return IRRUN_I8;
    case IRRUN_U1:
        return IRRUN_BOOLEAN;
    case IRRUN_U2:
    case IRRUN_U3:
    case IRRUN_U4:
    case IRRUN_U6:
    case IRRUN_NF4:
        return IRRUN_U8;
    default:
        return dtype;
    }
}

bool write_to_file(void *context, const void *data, size_t size_bytes, struct irrun_error *err)
{
    return output_file_write(context, data, size_bytes, err);
}

#define BLOCK 1024 /* elements */

bool write_converted(const struct irrun_tensor *record, enum irrun_dtype dtype, bool is_swapped,
                     bytes_write_fn *write, void *context, struct irrun_error *err)
{
    if (dtype == record->dtype && !is_swapped)
        return write(context, record->data, tensor_n_bytes(record), err);
    unsigned char block[BLOCK * sizeof(double)];
    size_t n = (size_t)shape_n_elements(&record->shape);
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t n_block = n - i < BLOCK ? n - i : BLOCK;
        convert_elements(record->dtype, tensor_at(record, i), dtype, block, n_block);
        if (is_swapped)
            swap_elements(block, dtype_size(dtype), n_block);
        if (!write(context, block, n_block * dtype_size(dtype), err))
            return false;
    }
    return true;
}
