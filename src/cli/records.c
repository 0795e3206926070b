/* Divides arrays into records, and checks that they fit the port. records_read.c reads the records.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/records.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/huge_pages.h"
#include "cli/cast.h"
#include "cli/records_internal.h"

const char *records_path(const struct records *records)
{
    return records->reader ? reader_path(records->reader)
           : records->path ? records->path
                           : "--random";
}

struct place records_place(const struct records *records)
{
    return (struct place){records_path(records), records->reader ? reader_line(records->reader) : 0,
                          0};
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static bool check_dtype(struct records *records, enum irrun_dtype dtype, struct irrun_error *err)
{
    const struct records_port *port = &records->port;
    enum cast cast = records->options ? records->options->cast : CAST_SAFE;
    records->source_dtype = dtype;
    records->record.dtype = port->keeps_dtype || port->dtype == IRRUN_DYNAMIC ? dtype : port->dtype;
    records->must_check_narrowing = false;
    bool is_same = dtype == records->record.dtype;
    if (is_same || (cast != CAST_NONE && cast_is_safe(dtype, records->record.dtype)))
        return true;
    records->must_check_narrowing = cast == CAST_ANY && !records->has_warned;
    if (cast == CAST_ANY)
        return true;
    fail_at(err, IRRUN_DATA, records_place(records), "%s \"%s\" is %s, but this array is %s",
            port->what, port->name, irrun_dtype_name(port->dtype), irrun_dtype_name(dtype));
    return cast == CAST_NONE
               ? fail_hint(err, "--cast=none allows no conversion")
               : fail_hint(err, "%s cannot hold every value of %s; --cast=any converts them anyway",
                           irrun_dtype_name(port->dtype), irrun_dtype_name(dtype));
}

/* Allocates a record of records->record.shape. `old` is the previous record. */
static bool allocate_record(struct records *records, const struct irrun_tensor *old,
                            struct irrun_error *err)
{
    size_t size_bytes, staging_bytes;
    if (!shape_count(&records->record.shape, &records->n_elements) ||
        !tensor_size(records->record.dtype, &records->record.shape, &size_bytes) ||
        !tensor_size(records->source_dtype, &records->record.shape, &staging_bytes))
        return fail_at(err, IRRUN_DATA, records_place(records), "a record is too large");
    records->is_moved |=
        records->record.dtype != old->dtype || !shape_equals(&records->record.shape, &old->shape);
    if (size_bytes > records->capacity_bytes || !records->record.data) {
        void *data = huge_alloc(size_bytes);
        if (!data)
            return fail_memory(err, size_bytes);
        free(records->record.data);
        records->record.data = data;
        records->capacity_bytes = size_bytes;
        records->is_moved = true;
    }
    return !records_are_staged(records) ||
           reserve_array(&records->staging, staging_bytes, &records->staging_bytes, 1, err);
}

/* Sets *axis to the axis of --axis, which may be negative, among `rank` axes. */
static bool normalize_axis(struct records *records, uint32_t rank, uint32_t *axis,
                           struct irrun_error *err)
{
    int64_t k = records->axis->axis < 0 ? records->axis->axis + rank : records->axis->axis;
    *axis = (uint32_t)k;
    return (k >= 0 && k < rank) || records_fail_axis(records, rank, err);
}

bool records_check_axis(const struct records_port *port, const struct axis_spec *axis,
                        struct irrun_error *err)
{
    struct records records = {.port = *port, .axis = axis};
    uint32_t normal;
    return port->shape.is_rank_dynamic || normalize_axis(&records, port->shape.rank, &normal, err);
}

static int64_t chunk_length(const struct records *records, uint32_t axis)
{
    const struct irrun_partial_shape *shape = &records->port.shape;
    if (records->axis->chunk > 0)
        return records->axis->chunk;
    bool is_known = !shape->is_rank_dynamic && shape->min[axis] == shape->max[axis];
    return is_known && shape->min[axis] > 0 ? shape->min[axis] : 1;
}

/* Computes the sizes of slices along `axis` of records->record.shape; the caller sets the rows of
 * `cut`. Fails with IRRUN_USAGE if these slices are impossible. */
static bool cut_slices(struct records *records, uint32_t axis, struct irrun_error *err)
{
    const struct axis_spec *spec = records->axis;
    const struct irrun_shape *shape = &records->record.shape;
    int64_t chunk = chunk_length(records, axis);
    if (!records_check_chunk(records, axis, chunk, err))
        return false;
    if (spec->lead >= chunk)
        return fail(err, IRRUN_USAGE,
                    "--axis: LEAD is %" PRId64 ", but must be below CHUNK, which is %" PRId64,
                    spec->lead, chunk);
    records->record.shape.dims[axis] = chunk;
    int64_t hop = spec->hop > 0 ? spec->hop : chunk, most = hop > chunk ? hop : chunk;
    size_t element_bytes =
        (size_t)shape_product(shape, axis + 1, shape->rank) * dtype_size(records->source_dtype);
    if (element_bytes > 0 && most > INT64_MAX / (int64_t)element_bytes)
        return fail(err, IRRUN_USAGE, "--axis: %s is too large for elements of %zu bytes",
                    hop > chunk ? "HOP" : "CHUNK", element_bytes);
    records->cut =
        (struct records_cut){.n_rows = 1,
                             .piece_bytes = (size_t)chunk * element_bytes,
                             .step_bytes = (size_t)hop * element_bytes,
                             .position_bytes = (int64_t)(0 - (size_t)spec->lead * element_bytes)};
    return true;
}

/* Returns the number of whole slices; sets *n_left to the number of remaining elements. */
static int64_t count_slices(const struct records *records, int64_t chunk, int64_t length,
                            int64_t *n_left)
{
    int64_t hop = records->axis->hop > 0 ? records->axis->hop : chunk;
    int64_t whole = length > 0 ? records->axis->lead + length : 0;
    int64_t n = whole >= chunk ? (whole - chunk) / hop + 1 : 0;
    int64_t end = n == 0 ? records->axis->lead : (n - 1) * hop + (hop > chunk ? hop : chunk);
    *n_left = whole > end ? whole - end : 0;
    return n;
}

/* Starts an array of known shape that --axis cuts into slices. */
static bool start_slices(struct records *records, const struct array_header *header,
                         struct irrun_error *err)
{
    uint32_t axis;
    const struct irrun_shape *shape = &header->shape;
    const struct irrun_partial_shape *wanted = &records->port.shape;
    if (!normalize_axis(records, wanted->is_rank_dynamic ? shape->rank : wanted->rank, &axis, err))
        return false;
    if (!wanted->is_rank_dynamic && shape->rank != wanted->rank)
        return records_fail_type(records, header, err);
    records->record.shape = *shape;
    if (!cut_slices(records, axis, err))
        return false;
    enum partial partial = records->options ? records->options->partial : PARTIAL_ERROR;
    int64_t chunk = records->record.shape.dims[axis], length = shape->dims[axis], n_left;
    if (length > INT64_MAX / 4)
        return fail_at(err, IRRUN_DATA, records_place(records), "is too long to be cut");
    int64_t n = count_slices(records, chunk, length, &n_left);
    if (n_left > 0 && partial == PARTIAL_ERROR) {
        fail_at(err, IRRUN_DATA, records_place(records),
                "axis %" PRIu32 " has length %" PRId64 ": slices of %" PRId64, axis, length, chunk);
        if (records->axis->hop > 0)
            fail_append(err, " every %" PRId64, records->axis->hop);
        fail_append(err, " leave %" PRId64 " over", n_left);
        return fail_hint(err, "--partial=drop drops the rest, --partial=pad pads it with zeros");
    }
    records->n_left = n + (n_left > 0 && partial == PARTIAL_PAD);
    struct records_cut *cut = &records->cut;
    cut->n_rows = (size_t)shape_product(shape, 0, axis);
    cut->row_bytes = (size_t)shape_product(shape, axis, shape->rank) * dtype_size(header->dtype);
    records->is_cut_inside = cut->n_rows != 1;
    return true;
}

static void cut_stack(struct records *records)
{
    size_t size_bytes = 0;
    tensor_size(records->source_dtype, &records->record.shape, &size_bytes);
    records->cut = (struct records_cut){.n_rows = 1,
                                        .row_bytes = (size_t)records->n_left * size_bytes,
                                        .piece_bytes = size_bytes,
                                        .step_bytes = size_bytes};
}

static bool start_sized(struct records *records, const struct array_header *header,
                        struct irrun_error *err)
{
    const struct irrun_shape *shape = &header->shape;
    const struct irrun_partial_shape *wanted = &records->port.shape;
    if (records->axis)
        return start_slices(records, header, err);
    uint32_t rank = records->port.is_scalar   ? shape->rank - (shape->rank > 0)
                    : wanted->is_rank_dynamic ? shape->rank
                                              : wanted->rank;
    records->is_stacked = shape->rank == rank + 1;
    if (!records->is_stacked && shape->rank != rank)
        return records_fail_type(records, header, err);
    records->record.shape = shape_of(rank, shape->dims + records->is_stacked);
    records->n_left = records->is_stacked ? shape->dims[0] : 1;
    cut_stack(records);
    return true;
}

/* Starts raw or csv data. Records have the shape of the port, which must be static. */
static bool start_unsized(struct records *records, struct irrun_error *err)
{
    const struct records_port *port = &records->port;
    struct irrun_partial_shape shape = port->shape;
    char text[SHAPE_TEXT_BYTES];
    uint32_t axis = 0;
    records->is_unsized = true;
    records->n_left = INT64_MAX;
    if (port->is_scalar)
        shape = partial_shape_of(&(struct irrun_shape){.rank = 0});
    if (records->axis && !shape.is_rank_dynamic) {
        if (!normalize_axis(records, shape.rank, &axis, err))
            return false;
        shape.min[axis] = shape.max[axis] = chunk_length(records, axis);
    }
    if (!partial_shape_to_shape(&shape, &records->record.shape)) {
        fail(err, IRRUN_USAGE,
             "%s \"%s\" is %s, and %s contains no shape: the open dimensions are unknown",
             port->what, port->name, partial_shape_format(&port->shape, text),
             records_path(records));
        return !records->axis && records->options && records->options->low_latency
                   ? fail_hint(err, "--axis=K:1 reads a frame of axis K for each record")
                   : records_hint_shape(port, err);
    }
    if (records->axis && !port->is_scalar && !cut_slices(records, axis, err))
        return false;
    if (records->axis && shape_product(&records->record.shape, 0, axis) != 1)
        return fail(err, IRRUN_USAGE,
                    "--axis=%" PRId64 ": %s \"%s\" is %s, and a file without a shape can be cut "
                    "only along an axis after dimensions of 1",
                    records->axis->axis, port->what, port->name,
                    partial_shape_format(&port->shape, text));
    if (shape_n_elements(&records->record.shape) == 0)
        return fail(
            err, IRRUN_USAGE,
            "%s \"%s\" is %s, which has no elements: the number of records in %s is unknown",
            port->what, port->name, partial_shape_format(&port->shape, text),
            records_path(records));
    if (!records->axis)
        cut_stack(records);
    return true;
}

static bool check_record(struct records *records, const struct array_header *header,
                         struct irrun_error *err)
{
    const struct records_port *port = &records->port;
    int64_t n = 1;
    if (!shape_count(&records->record.shape, &n))
        return fail_at(err, IRRUN_DATA, records_place(records), "a record is too large");
    if (port->is_scalar && n != 1) {
        char found[SHAPE_TEXT_BYTES];
        return fail_at(err, IRRUN_DATA, records_place(records),
                       "\"%s\" is %s, but must be one number per record", port->name,
                       shape_format(&header->shape, found));
    }
    if (port->is_scalar || partial_shape_admits(&port->shape, &records->record.shape))
        return true;
    return records_fail_type(records, header, err);
}

bool records_peek_array(struct records *records, bool *is_end, struct irrun_error *err)
{
    *is_end = false;
    if (records->has_pending)
        return true;
    if (!records->reader) {
        *is_end = true;
        return true;
    }
    if (!reader_next(records->reader, &records->pending, is_end, err))
        return false;
    records->has_pending = !*is_end;
    return true;
}

bool records_start_array(struct records *records, bool *is_end, struct irrun_error *err)
{
    if (!records_peek_array(records, is_end, err))
        return false;
    if (*is_end)
        return true;
    struct array_header header = records->pending;
    struct irrun_tensor old = records->record;
    records->has_pending = false;
    if (records->reader) {
        free(records->whole.data);
        records->whole.data = NULL;
    }
    bool has_dtype = header.dtype != IRRUN_DYNAMIC;
    if (!has_dtype && records->port.dtype == IRRUN_DYNAMIC && !records->port.is_scalar)
        return fail(err, IRRUN_USAGE, "%s \"%s\" has no type, and neither has %s",
                    records->port.what, records->port.name, records_path(records));
    enum irrun_dtype dtype = has_dtype                              ? header.dtype
                             : records->port.dtype == IRRUN_DYNAMIC ? IRRUN_F64 /* is_scalar */
                                                                    : records->port.dtype;
    records->is_stacked = true;
    records->is_cut_inside = false;
    if ((header.is_audio && !records_start_audio(records, &header, err)) ||
        !check_dtype(records, dtype, err) ||
        !(header.has_shape ? start_sized(records, &header, err) : start_unsized(records, err)) ||
        !check_record(records, &header, err))
        return false;
    records->is_moved |= records->n_left == 0;
    if (records->n_left == 0 && old.data)
        return true; /* keeps the last record, since outputs may be views of it */
    return allocate_record(records, &old, err) &&
           (!records->is_cut_inside || records->whole.data ||
            reader_read_tensor(records->reader, &header, &records->whole, err));
}

bool records_set(struct records *records, const struct irrun_tensor *value, struct irrun_error *err)
{
    struct array_header header = {.dtype = value->dtype, .has_shape = true, .shape = value->shape};
    struct irrun_tensor old = records->record;
    records->path = "--feed";
    /* Outputs may be views of the old record, so it is kept until the next call. */
    size_t spare_bytes = records->spare_bytes;
    records->record = (struct irrun_tensor){old.dtype, value->shape, records->spare};
    records->spare = old.data;
    records->spare_bytes = records->capacity_bytes;
    records->capacity_bytes = spare_bytes;
    if (!check_dtype(records, value->dtype, err) || !check_record(records, &header, err) ||
        !allocate_record(records, &old, err))
        return false;
    records->is_moved = true;
    records_convert(records, value->data);
    return true;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool start_first_array(struct records *records, struct irrun_error *err)
{
    bool is_end;
    if (!records_start_array(records, &is_end, err))
        return false;
    if (is_end)
        return fail_at(err, IRRUN_DATA, records_place(records), "contains no array");
    records->state = records->is_stacked ? RECORDS_STREAM : RECORDS_SINGLE;
    records->must_check_raw = raw_check_is_due(records);
    return true;
}

bool records_open(struct records *records, const struct records_port *port, struct reader *reader,
                  const struct array_header *header, const struct axis_spec *axis,
                  const struct options *options, struct irrun_error *err)
{
    *records = (struct records){.port = *port, .reader = reader, .axis = axis, .options = options};
    records->has_pending = header != NULL;
    if (header)
        records->pending = *header;
    return start_first_array(records, err);
}

bool records_open_array(struct records *records, const struct records_port *port,
                        const struct irrun_tensor *array, const char *path,
                        const struct axis_spec *axis, const struct options *options,
                        struct irrun_error *err)
{
    *records = (struct records){
        .port = *port, .whole = *array, .path = path, .axis = axis, .options = options};
    records_queue_whole(records);
    return start_first_array(records, err);
}

void records_queue_whole(struct records *records)
{
    records->has_pending = true;
    records->pending = (struct array_header){
        .dtype = records->whole.dtype, .has_shape = true, .shape = records->whole.shape};
}

void records_open_record(struct records *records, const struct records_port *port,
                         const struct irrun_tensor *record)
{
    *records = (struct records){.port = *port,
                                .record = *record,
                                .source_dtype = record->dtype,
                                .state = RECORDS_REPEATED,
                                .is_moved = true};
}

void records_close(struct records *records)
{
    reader_close(records->reader);
    free(records->record.data);
    free(records->spare);
    free(records->staging);
    free(records->whole.data);
    *records = (struct records){.reader = NULL};
}
