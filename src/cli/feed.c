/* Opens feeds: what an array says of its records, and whether they fit. feed_read.c reads them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/feed.h"
#include "base/huge_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cast.h"
#include "cli/feed_parts.h"

const char *feed_path(const struct feed *feed)
{
    return feed->reader ? reader_path(feed->reader) : feed->path ? feed->path : "--random";
}

struct place feed_place(const struct feed *feed)
{
    return (struct place){feed_path(feed), feed->reader ? reader_line(feed->reader) : 0, 0};
}

/* ---- What an array says of its records ------------------------------------------------------- */

static bool check_dtype(struct feed *feed, enum irrun_dtype dtype, struct irrun_error *err)
{
    const struct feed_port *port = &feed->port;
    enum cast cast = feed->options ? feed->options->cast : CAST_SAFE;
    feed->source_dtype = dtype;
    feed->record.dtype = port->keeps_dtype || port->dtype == IRRUN_DYNAMIC ? dtype : port->dtype;
    feed->is_narrowed = false;
    bool is_same = dtype == feed->record.dtype;
    if (is_same || (cast != CAST_NONE && cast_is_safe(dtype, feed->record.dtype)))
        return true;
    feed->is_narrowed = cast == CAST_ANY && !feed->is_narrowing_told;
    if (cast == CAST_ANY)
        return true;
    fail_at(err, IRRUN_DATA, feed_place(feed), "%s \"%s\" is %s, but this array is %s", port->what,
            port->name, irrun_dtype_name(port->dtype), irrun_dtype_name(dtype));
    return cast == CAST_NONE
               ? fail_hint(err, "--cast=none lets no type stand for another")
               : fail_hint(err, "%s cannot hold every value of %s; --cast=any converts them anyway",
                           irrun_dtype_name(port->dtype), irrun_dtype_name(dtype));
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
        void *data = huge_alloc(size_bytes);
        if (!data)
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
    *axis = (uint32_t)k;
    return (k >= 0 && k < rank) || feed_fail_axis(feed, rank, err);
}

bool feed_check_axis(const struct feed_port *port, const struct axis_spec *axis,
                     struct irrun_error *err)
{
    struct feed feed = {.port = *port, .axis = axis};
    uint32_t normal;
    return port->shape.is_rank_dynamic || normal_axis(&feed, port->shape.rank, &normal, err);
}

static int64_t chunk_length(const struct feed *feed, uint32_t axis)
{
    const struct irrun_partial_shape *shape = &feed->port.shape;
    if (feed->axis->chunk > 0)
        return feed->axis->chunk;
    bool is_known = !shape->is_rank_dynamic && shape->min[axis] == shape->max[axis];
    return is_known && shape->min[axis] > 0 ? shape->min[axis] : 1;
}

/* Slices along an axis of an array with a shape. */
static bool take_axis(struct feed *feed, const struct array_header *header, struct irrun_error *err)
{
    uint32_t axis;
    const struct irrun_shape *shape = &header->shape;
    const struct irrun_partial_shape *wanted = &feed->port.shape;
    if (!normal_axis(feed, wanted->is_rank_dynamic ? shape->rank : wanted->rank, &axis, err))
        return false;
    if (!wanted->is_rank_dynamic && shape->rank != wanted->rank) {
        feed_fail_form(feed, header, err);
        return false;
    }
    int64_t chunk = chunk_length(feed, axis), length = shape->dims[axis];
    if (!feed_check_chunk(feed, axis, chunk, err))
        return false;
    enum partial partial = feed->options ? feed->options->partial : PARTIAL_ERROR;
    feed->record.shape = *shape;
    feed->record.shape.dims[axis] = chunk;
    if (length % chunk != 0 && partial == PARTIAL_ERROR) {
        fail_at(err, IRRUN_DATA, feed_place(feed),
                "axis %" PRIu32 " has length %" PRId64 ": slices of %" PRId64 " leave %" PRId64
                " over",
                axis, length, chunk, length % chunk);
        return fail_hint(err, "--partial=drop leaves it out, --partial=pad fills it up with zeros");
    }
    feed->n_left = length / chunk + (length % chunk != 0 && partial == PARTIAL_PAD);
    feed->is_cut_inside = shape_product(shape, 0, axis) != 1;
    size_t step_bytes =
        (size_t)shape_product(shape, axis + 1, shape->rank) * dtype_size(feed->source_dtype);
    feed->cut = (struct feed_cut){.n_rows = (size_t)shape_product(shape, 0, axis),
                                  .row_bytes = (size_t)length * step_bytes,
                                  .piece_bytes = (size_t)chunk * step_bytes};
    return true;
}

/* Whole records, one behind the other. */
static void cut_stack(struct feed *feed)
{
    size_t size_bytes = 0;
    tensor_size(feed->source_dtype, &feed->record.shape, &size_bytes);
    feed->cut = (struct feed_cut){
        .n_rows = 1, .row_bytes = (size_t)feed->n_left * size_bytes, .piece_bytes = size_bytes};
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
        return feed_fail_form(feed, header, err);
    feed->record.shape = shape_of(rank, shape->dims + feed->is_stacked);
    feed->n_left = feed->is_stacked ? shape->dims[0] : 1;
    cut_stack(feed);
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
        if (!feed_check_chunk(feed, axis, shape.min[axis], err))
            return false;
    }
    if (!partial_shape_to_shape(&shape, &feed->record.shape)) {
        fail(err, IRRUN_USAGE,
             "%s \"%s\" is %s: %s has no shape of its own to fill the open dimensions", port->what,
             port->name, partial_shape_format(&port->shape, text), feed_path(feed));
        return fail_hint(err, "--shape=%s=D,D,... fills them", port->name);
    }
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
    return feed_fail_form(feed, header, err);
}

bool feed_peek_array(struct feed *feed, bool *is_end, struct irrun_error *err)
{
    *is_end = false;
    if (feed->has_pending)
        return true;
    if (!feed->reader) {
        *is_end = true;
        return true;
    }
    if (!reader_next(feed->reader, &feed->pending, is_end, err))
        return false;
    feed->has_pending = !*is_end;
    return true;
}

bool feed_take_array(struct feed *feed, bool *is_end, struct irrun_error *err)
{
    if (!feed_peek_array(feed, is_end, err))
        return false;
    if (*is_end)
        return true;
    struct array_header header = feed->pending;
    struct irrun_tensor old = feed->record;
    feed->has_pending = false;
    if (feed->reader) {
        free(feed->whole.data);
        feed->whole.data = NULL;
    }
    bool has_dtype = header.dtype != IRRUN_DYNAMIC;
    if (!has_dtype && feed->port.dtype == IRRUN_DYNAMIC && !feed->port.is_series)
        return fail(err, IRRUN_USAGE, "%s \"%s\" has no type of its own, nor has %s",
                    feed->port.what, feed->port.name, feed_path(feed));
    enum irrun_dtype dtype = has_dtype              ? header.dtype
                             : feed->port.is_series ? IRRUN_F64
                                                    : feed->port.dtype;
    feed->is_stacked = true;
    feed->is_cut_inside = false;
    return (!header.is_audio || feed_check_audio(feed, err)) && check_dtype(feed, dtype, err) &&
           (header.has_shape ? take_shape(feed, &header, err) : take_endless(feed, err)) &&
           check_record(feed, &header, err) && make_room(feed, &old, err) &&
           (!feed->is_cut_inside || feed->whole.data ||
            reader_read_tensor(feed->reader, &header, &feed->whole, err));
}

bool feed_set(struct feed *feed, const struct irrun_tensor *value, struct irrun_error *err)
{
    struct array_header header = {.dtype = value->dtype, .has_shape = true, .shape = value->shape};
    struct irrun_tensor old = feed->record;
    feed->path = "--feed";
    feed->record.shape = value->shape;
    if (!check_dtype(feed, value->dtype, err) || !check_record(feed, &header, err) ||
        !make_room(feed, &old, err))
        return false;
    feed_convert(feed, value->data);
    return true;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool take_first_array(struct feed *feed, struct irrun_error *err)
{
    bool is_end;
    if (!feed_take_array(feed, &is_end, err))
        return false;
    if (is_end)
        return fail_at(err, IRRUN_DATA, feed_place(feed), "holds no array");
    feed->state = feed->is_stacked ? FEED_STREAM : FEED_SINGLE;
    feed->is_raw_checked = raw_check_is_due(feed);
    return true;
}

bool feed_open(struct feed *feed, const struct feed_port *port, struct reader *reader,
               const struct axis_spec *axis, const struct options *options, struct irrun_error *err)
{
    *feed = (struct feed){.port = *port, .reader = reader, .axis = axis, .options = options};
    return take_first_array(feed, err);
}

bool feed_open_at(struct feed *feed, const struct feed_port *port, struct reader *reader,
                  const struct array_header *header, struct irrun_error *err)
{
    *feed = (struct feed){.port = *port, .reader = reader, .has_pending = true, .pending = *header};
    return take_first_array(feed, err);
}

bool feed_open_array(struct feed *feed, const struct feed_port *port,
                     const struct irrun_tensor *array, const char *path,
                     const struct axis_spec *axis, const struct options *options,
                     struct irrun_error *err)
{
    *feed = (struct feed){
        .port = *port, .whole = *array, .path = path, .axis = axis, .options = options};
    feed_pend_whole(feed);
    return take_first_array(feed, err);
}

void feed_pend_whole(struct feed *feed)
{
    feed->has_pending = true;
    feed->pending = (struct array_header){
        .dtype = feed->whole.dtype, .has_shape = true, .shape = feed->whole.shape};
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
