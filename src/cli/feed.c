/* Cuts what a reader gives into records, and casts them. What binds feeds to inputs is inputs.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/feed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cast.h"

const char *feed_path(const struct feed *feed)
{
    return feed->reader ? reader_path(feed->reader) : "--random";
}

static struct place feed_place(const struct feed *feed)
{
    return (struct place){feed_path(feed), feed->reader ? reader_line(feed->reader) : 0, 0};
}

/* ---- What an array says of its records -------------------------------------------------------- */

static bool fail_form(struct feed *feed, const struct array_header *header, struct irrun_error *err)
{
    const struct feed_port *port = &feed->port;
    char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    shape_format(&header->shape, found);
    partial_shape_format(&port->shape, wanted);
    enum irrun_error_code code = port->form_code != IRRUN_OK ? port->form_code : IRRUN_DATA;
    fail_at(err, code, feed_place(feed), "%s \"%s\" is %s %s, but this array is %s %s", port->what,
            port->name, irrun_dtype_name(port->dtype), wanted, irrun_dtype_name(header->dtype),
            found);
    if (!port->shape.is_rank_dynamic)
        fail_hint(err,
                  "one record has rank %" PRIu32 ", a stack of records rank %" PRIu32
                  "; --axis cuts along an axis",
                  port->shape.rank, port->shape.rank + 1);
    return false;
}

static bool check_dtype(struct feed *feed, enum irrun_dtype dtype, struct irrun_error *err)
{
    feed->source_dtype = dtype;
    const struct feed_port *port = &feed->port;
    feed->record.dtype = port->keeps_dtype || port->dtype == IRRUN_DYNAMIC ? dtype : port->dtype;
    if (cast_is_safe(dtype, feed->record.dtype))
        return true;
    return fail_at(err, IRRUN_DATA, feed_place(feed),
                   "%s \"%s\" is %s, which cannot hold every value of the file's %s", port->what,
                   port->name, irrun_dtype_name(port->dtype), irrun_dtype_name(dtype));
}

/* Makes room for a record of feed->record.shape; `old` is the record before it. */
static bool make_room(struct feed *feed, const struct irrun_tensor *old, struct irrun_error *err)
{
    size_t size_bytes, staging_bytes;
    if (!shape_count(&feed->record.shape, &feed->n_elements) ||
        !tensor_size(feed->record.dtype, &feed->record.shape, &size_bytes) ||
        !tensor_size(feed->source_dtype, &feed->record.shape, &staging_bytes))
        return fail_at(err, IRRUN_DATA, feed_place(feed), "a record is too large to be counted");
    feed->is_new_place =
        feed->record.dtype != old->dtype || !shape_equals(&feed->record.shape, &old->shape);
    if (size_bytes > feed->capacity_bytes || !feed->record.data) {
        void *data;
        if (posix_memalign(&data, 64, size_bytes ? size_bytes : 64) != 0)
            return fail_memory(err, size_bytes);
        free(feed->record.data);
        feed->record.data = data;
        feed->capacity_bytes = size_bytes;
        feed->is_new_place = true;
    }
    if (feed->source_dtype != feed->record.dtype && staging_bytes > feed->staging_bytes) {
        void *staging = realloc(feed->staging, staging_bytes);
        if (!staging)
            return fail_memory(err, staging_bytes);
        feed->staging = staging;
        feed->staging_bytes = staging_bytes;
    }
    return true;
}

/* The axis of the Parameter's own that --axis names. */
static bool normal_axis(struct feed *feed, uint32_t rank, uint32_t *axis, struct irrun_error *err)
{
    int64_t k = feed->axis->axis < 0 ? feed->axis->axis + rank : feed->axis->axis;
    if (k < 0 || k >= rank)
        return fail(err, IRRUN_USAGE,
                    "--axis=%" PRId64 ": %s \"%s\" has rank %" PRIu32 ", its axes are %" PRId64
                    " ... %" PRId64,
                    feed->axis->axis, feed->port.what, feed->port.name, rank, -(int64_t)rank,
                    (int64_t)rank - 1);
    *axis = (uint32_t)k;
    return true;
}

static int64_t chunk_length(const struct feed *feed, uint32_t axis)
{
    const struct irrun_partial_shape *shape = &feed->port.shape;
    if (feed->axis->chunk > 0)
        return feed->axis->chunk;
    bool is_known = !shape->is_rank_dynamic && shape->min[axis] == shape->max[axis];
    return is_known && shape->min[axis] > 0 ? shape->min[axis] : 1;
}

/* Slices along an axis of an array with a shape. If there is anything in front of the axis the array is
 * read into memory. */
static bool take_axis(struct feed *feed, const struct array_header *header, struct irrun_error *err)
{
    uint32_t axis;
    const struct irrun_shape *shape = &header->shape;
    const struct irrun_partial_shape *wanted = &feed->port.shape;
    if (!normal_axis(feed, wanted->is_rank_dynamic ? shape->rank : wanted->rank, &axis, err))
        return false;
    if (!wanted->is_rank_dynamic && shape->rank != wanted->rank) {
        fail_form(feed, header, err);
        return false;
    }
    int64_t chunk = chunk_length(feed, axis), length = shape->dims[axis];
    feed->record.shape = *shape;
    feed->record.shape.dims[axis] = chunk;
    if (length % chunk != 0)
        return fail_at(err, IRRUN_DATA, feed_place(feed),
                       "axis %" PRIu32 " has length %" PRId64 ": slices of %" PRId64
                       " leave %" PRId64 " over",
                       axis, length, chunk, length % chunk);
    feed->n_left = length / chunk;
    if (shape_product(shape, 0, axis) == 1)
        return true;
    feed->position = 0;
    return reader_read_tensor(feed->reader, header, &feed->whole, err);
}

static bool take_shape(struct feed *feed, const struct array_header *header,
                       struct irrun_error *err)
{
    const struct irrun_shape *shape = &header->shape;
    const struct irrun_partial_shape *wanted = &feed->port.shape;
    if (feed->axis)
        return take_axis(feed, header, err);
    uint32_t rank = feed->port.is_series      ? shape->rank - (shape->rank > 0)
                    : wanted->is_rank_dynamic ? shape->rank
                                              : wanted->rank;
    feed->is_stacked = shape->rank == rank + 1;
    if (!feed->is_stacked && shape->rank != rank)
        return fail_form(feed, header, err);
    feed->record.shape = shape_of(rank, shape->dims + feed->is_stacked);
    feed->n_left = feed->is_stacked ? shape->dims[0] : 1;
    return true;
}

/* raw and csv: records have the shape of the port, which must be known. */
static bool take_endless(struct feed *feed, struct irrun_error *err)
{
    const struct feed_port *port = &feed->port;
    struct irrun_partial_shape shape = port->shape;
    char text[SHAPE_TEXT_BYTES];
    uint32_t axis = 0;
    feed->is_endless = true;
    feed->n_left = INT64_MAX;
    if (port->is_series)
        shape = partial_shape_of(&(struct irrun_shape){.rank = 0});
    if (feed->axis && !shape.is_rank_dynamic) {
        if (!normal_axis(feed, shape.rank, &axis, err))
            return false;
        shape.min[axis] = shape.max[axis] = chunk_length(feed, axis);
    }
    if (!partial_shape_to_shape(&shape, &feed->record.shape))
        return fail(err, IRRUN_USAGE,
                    "%s \"%s\" is %s: %s has no shape of its own to fill the open dimensions",
                    port->what, port->name, partial_shape_format(&port->shape, text),
                    feed_path(feed));
    if (feed->axis && shape_product(&feed->record.shape, 0, axis) != 1)
        return fail(
            err, IRRUN_USAGE,
            "--axis=%" PRId64 ": %s \"%s\" is %s, and a file without a shape can be cut only "
            "behind dimensions of 1",
            feed->axis->axis, port->what, port->name, partial_shape_format(&port->shape, text));
    if (shape_n_elements(&feed->record.shape) == 0)
        return fail(err, IRRUN_USAGE,
                    "%s \"%s\" is %s: records without elements have no number in %s", port->what,
                    port->name, partial_shape_format(&port->shape, text), feed_path(feed));
    return true;
}

static bool check_record(struct feed *feed, const struct array_header *header,
                         struct irrun_error *err)
{
    const struct feed_port *port = &feed->port;
    int64_t n = 1;
    if (!shape_count(&feed->record.shape, &n))
        return fail_at(err, IRRUN_DATA, feed_place(feed), "a record is too large to be counted");
    if (port->is_series && n != 1) {
        char found[SHAPE_TEXT_BYTES];
        return fail_at(err, IRRUN_DATA, feed_place(feed),
                       "\"%s\" is %s, but should be one number a record", port->name,
                       shape_format(&header->shape, found));
    }
    if (port->is_series || partial_shape_admits(&port->shape, &feed->record.shape))
        return true;
    return fail_form(feed, header, err);
}

/* Reads the header of the next array, unless that was done before. */
static bool peek_array(struct feed *feed, bool *is_end, struct irrun_error *err)
{
    *is_end = false;
    if (feed->has_pending)
        return true;
    if (!reader_next(feed->reader, &feed->pending, is_end, err))
        return false;
    feed->has_pending = !*is_end;
    return true;
}

/* Goes to the next array of the reader. */
static bool take_array(struct feed *feed, bool *is_end, struct irrun_error *err)
{
    if (!peek_array(feed, is_end, err))
        return false;
    if (*is_end)
        return true;
    struct array_header header = feed->pending;
    struct irrun_tensor old = feed->record;
    feed->has_pending = false;
    free(feed->whole.data);
    feed->whole.data = NULL;
    bool has_dtype = header.dtype != IRRUN_DYNAMIC;
    if (!has_dtype && feed->port.dtype == IRRUN_DYNAMIC && !feed->port.is_series)
        return fail(err, IRRUN_USAGE, "%s \"%s\" has no type of its own, nor has %s",
                    feed->port.what, feed->port.name, feed_path(feed));
    enum irrun_dtype dtype = has_dtype              ? header.dtype
                             : feed->port.is_series ? IRRUN_F64
                                                    : feed->port.dtype;
    feed->is_stacked = true;
    return check_dtype(feed, dtype, err) &&
           (header.has_shape ? take_shape(feed, &header, err) : take_endless(feed, err)) &&
           check_record(feed, &header, err) && make_room(feed, &old, err);
}

/* ---- Opening ---------------------------------------------------------------------------------- */

bool feed_open(struct feed *feed, const struct feed_port *port, struct reader *reader,
               const struct axis_spec *axis, struct irrun_error *err)
{
    bool is_end;
    *feed = (struct feed){.port = *port, .reader = reader, .axis = axis};
    if (!take_array(feed, &is_end, err))
        return false;
    if (is_end)
        return fail_at(err, IRRUN_DATA, feed_place(feed), "holds no array");
    feed->state = feed->is_stacked ? FEED_STREAM : FEED_SINGLE;
    return true;
}

void feed_open_record(struct feed *feed, const struct feed_port *port,
                      const struct irrun_tensor *record)
{
    *feed = (struct feed){.port = *port,
                          .record = *record,
                          .source_dtype = record->dtype,
                          .state = FEED_REPEATED,
                          .is_new_place = true};
}

void feed_close(struct feed *feed)
{
    reader_close(feed->reader);
    free(feed->record.data);
    free(feed->staging);
    free(feed->whole.data);
    *feed = (struct feed){.reader = NULL};
}

/* ---- Reading ---------------------------------------------------------------------------------- */

/* A slice of an array in memory: `chunk` steps along the axis for everything in front of it. */
static void gather_slice(struct feed *feed, void *target)
{
    const struct irrun_shape *shape = &feed->whole.shape;
    uint32_t axis =
        (uint32_t)(feed->axis->axis < 0 ? feed->axis->axis + shape->rank : feed->axis->axis);
    int64_t chunk = feed->record.shape.dims[axis];
    size_t step_bytes =
        (size_t)shape_product(shape, axis + 1, shape->rank) * dtype_size(feed->source_dtype);
    size_t row_bytes = (size_t)shape->dims[axis] * step_bytes;
    size_t piece_bytes = (size_t)chunk * step_bytes;
    size_t n_rows = (size_t)shape_product(shape, 0, axis);
    const char *source = (const char *)feed->whole.data + (size_t)feed->position * step_bytes;
    for (size_t i = 0; i < n_rows && piece_bytes > 0; i++)
        memcpy((char *)target + i * piece_bytes, source + i * row_bytes, piece_bytes);
    feed->position += chunk;
}

static bool fail_remainder(struct feed *feed, size_t n_read, struct irrun_error *err)
{
    return fail_at(err, IRRUN_DATA, feed_place(feed),
                   "ends %zu numbers into record %" PRIu64 ", which takes %" PRId64, n_read,
                   feed->n_records, feed->n_elements);
}

/* Reads the next record of the present array; *has_record is false where an endless one ends. */
static bool read_record(struct feed *feed, bool *has_record, struct irrun_error *err)
{
    bool is_cast = feed->source_dtype != feed->record.dtype;
    void *target = is_cast ? feed->staging : feed->record.data;
    size_t n = (size_t)feed->n_elements, n_read = n;
    *has_record = true;
    if (feed->whole.data)
        gather_slice(feed, target);
    else if (!reader_read(feed->reader, feed->source_dtype, target, n, &n_read, err))
        return false;
    if (feed->is_endless && n_read == 0) {
        *has_record = false;
        return true;
    }
    if (n_read < n)
        return fail_remainder(feed, n_read, err);
    if (is_cast)
        convert_elements(feed->source_dtype, feed->staging, feed->record.dtype, feed->record.data,
                         n);
    feed->n_left--;
    feed->n_records++;
    return true;
}

static bool next_record(struct feed *feed, bool *has_record, struct irrun_error *err)
{
    bool is_end = false;
    while (feed->n_left == 0) {
        if (!take_array(feed, &is_end, err))
            return false;
        if (is_end) {
            *has_record = false;
            return true;
        }
        feed->state = FEED_STREAM;
    }
    return read_record(feed, has_record, err);
}

bool feed_next(struct feed *feed, bool *has_record, struct irrun_error *err)
{
    *has_record = true;
    feed->is_new_place = false;
    if (feed->state == FEED_REPEATED || feed->is_held) {
        feed->is_held = false;
        return true;
    }
    bool was_single = feed->state == FEED_SINGLE && feed->n_records == 1;
    if (!next_record(feed, has_record, err))
        return false;
    if (!*has_record && was_single)
        feed->state = FEED_REPEATED;
    return true;
}

bool feed_settle(struct feed *feed, struct irrun_error *err)
{
    bool is_end;
    if (feed->state != FEED_SINGLE)
        return true;
    if (!read_record(feed, &feed->is_held, err) || !peek_array(feed, &is_end, err))
        return false;
    feed->state = is_end ? FEED_REPEATED : FEED_STREAM;
    return true;
}

bool feed_rewind(struct feed *feed, struct irrun_error *err)
{
    bool is_end;
    if (feed->state == FEED_REPEATED)
        return true;
    if (!reader_can_rewind(feed->reader))
        return fail_at(err, IRRUN_DATA, feed_place(feed), "ended after %" PRIu64 " records",
                       feed->n_records);
    feed->n_records = 0;
    feed->has_pending = feed->is_held = false;
    if (!reader_rewind(feed->reader, err) || !take_array(feed, &is_end, err))
        return false;
    return !is_end || fail_at(err, IRRUN_DATA, feed_place(feed), "holds no array any more");
}
