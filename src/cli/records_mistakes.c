/* Explains why an array, or --axis, does not fit an input, and suggests what does.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/records_internal.h"

/* ---- Open dimensions ------------------------------------------------------------------------- */

void records_add_shape_option(const struct records_port *port, struct text *text)
{
    const struct irrun_partial_shape *shape = &port->shape;
    text_add(text, "%s--shape=%s=%s", text->length > 0 ? " " : "", port->name,
             shape->is_rank_dynamic ? "D,D,..." : "");
    for (uint32_t i = 0; i < shape->rank && !shape->is_rank_dynamic; i++) {
        const char *comma = i > 0 ? "," : "";
        if (shape->min[i] == shape->max[i])
            text_add(text, "%s%" PRId64, comma, shape->min[i]);
        else
            text_add(text, "%sD", comma);
    }
}

bool records_hint_shape(const struct records_port *port, struct irrun_error *err)
{
    struct text option = {.data = NULL};
    records_add_shape_option(port, &option);
    fail_hint(err, "write %s with a number for D", option.data ? option.data : "--shape");
    text_free(&option);
    return false;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

const char *records_option_name(const struct records *records, const char **equals)
{
    bool is_named = records->axis ? records->axis->name != NULL
                                  : records->options && records->options->inputs.n > 1;
    *equals = is_named ? "=" : "";
    return is_named ? records->port.name : "";
}

/* Finds the only axis along which the length of the array does not fit a record. Returns false if
 * there is no such axis, or more than one, or if a record has no fixed length along it. */
static bool find_other_axis(const struct irrun_partial_shape *wanted,
                            const struct irrun_shape *shape, uint32_t *axis)
{
    uint32_t n_other = 0;
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (shape->dims[i] >= wanted->min[i] && shape->dims[i] <= wanted->max[i])
            continue;
        *axis = i;
        n_other++;
    }
    return n_other == 1 && wanted->min[*axis] == wanted->max[*axis] && wanted->min[*axis] > 0 &&
           shape->dims[*axis] > 0;
}

/* Adds a hint for an array that has the rank of a record but a different length along `axis`. */
static bool hint_length(const struct records *records, const struct irrun_shape *shape,
                        uint32_t axis, struct irrun_error *err)
{
    const char *equals, *name = records_option_name(records, &equals);
    int64_t chunk = records->port.shape.min[axis], n = shape->dims[axis] / chunk;
    if (n == 0)
        return fail_hint(err, "--axis=%s%s%" PRIu32 " --partial=pad adds %" PRId64 " zeros", name,
                         equals, axis, chunk - shape->dims[axis]);
    if (shape->dims[axis] % chunk == 0)
        return fail_hint(err, "--axis=%s%s%" PRIu32 " splits it into %" PRId64 " records", name,
                         equals, axis, n);
    return fail_hint(err,
                     "--axis=%s%s%" PRIu32 " splits it into %" PRId64
                     " records with --partial=pad, %" PRId64 " with --partial=drop",
                     name, equals, axis, n + 1, n);
}

/* Adds a hint for a stack whose records do not have the shape of the input. */
static bool hint_stack(const struct irrun_partial_shape *wanted, const struct irrun_shape *shape,
                       struct irrun_error *err)
{
    struct irrun_shape record;
    char found[SHAPE_TEXT_BYTES], text[SHAPE_TEXT_BYTES];
    const struct irrun_shape inner = shape_of(shape->rank - 1, shape->dims + 1);
    bool is_known = partial_shape_to_shape(wanted, &record);
    int64_t n = is_known ? shape_n_elements(&record) : 0, n_all = shape_n_elements(shape);
    shape_format(&inner, found);
    if (n == 0 || n_all % n != 0)
        return fail_hint(err, "it is a stack of %" PRId64 " records %s", shape->dims[0], found);
    shape_format(&record, text);
    return fail_hint(err,
                     "it is a stack of %" PRId64 " records %s; in NumPy x.reshape(-1,%.*s) gives "
                     "%" PRId64 " that fit",
                     shape->dims[0], found, (int)strlen(text) - 2, text + 1, n_all / n);
}

/* Returns the shape with axis `from` moved to position `to`. */
static struct irrun_shape move_axis(const struct irrun_shape *shape, uint32_t from, uint32_t to)
{
    struct irrun_shape rest = shape_of(0, NULL), moved = rest;
    shape_append(&rest, shape, 0, from);
    shape_append(&rest, shape, from + 1, shape->rank);
    shape_append(&moved, &rest, 0, to);
    moved.dims[moved.rank++] = shape->dims[from];
    shape_append(&moved, &rest, to, rest.rank);
    return moved;
}

/* Adds a hint for an array (x in NumPy) that has the axes of a record, or of several records, in a
 * different order, as images may. Returns false if moving one axis does not help. */
static bool hint_moved_axis(const struct records *records, const struct irrun_shape *shape,
                            const char *x, struct irrun_error *err)
{
    const struct irrun_partial_shape *wanted = &records->port.shape;
    const char *equals, *name = records_option_name(records, &equals);
    uint32_t n = shape->rank, axis;
    for (uint32_t i = 0; i < 2 * n * n; i++) {
        uint32_t from = n - 1 - i / n % n, to = i % n;
        const struct irrun_shape moved = move_axis(shape, from, to);
        if (i < n * n && partial_shape_admits(wanted, &moved))
            return !fail_hint(err,
                              "in NumPy np.moveaxis(%s, %" PRIu32 ", %" PRIu32
                              ") has the axes in this order",
                              x, from, to);
        if (i >= n * n && find_other_axis(wanted, &moved, &axis))
            return !fail_hint(err,
                              "in NumPy np.moveaxis(%s, %" PRIu32 ", %" PRIu32
                              ") has the axes in this order; --axis=%s%s%" PRIu32 " then cuts it",
                              x, from, to, name, equals, axis);
    }
    return false;
}

/* Adds a hint for an array that lacks an axis of length 1. Returns false if that would not help. */
static bool hint_missing_axis(const struct records *records, const struct irrun_shape *shape,
                              struct irrun_error *err)
{
    const struct irrun_partial_shape *wanted = &records->port.shape;
    const char *equals, *name = records_option_name(records, &equals);
    struct irrun_shape longer = shape_of(0, NULL);
    uint32_t axis = 0, at = shape->rank + 1;
    while (at-- > 0) {
        longer.rank = 0;
        shape_append(&longer, shape, 0, at);
        longer.dims[longer.rank++] = 1;
        shape_append(&longer, shape, at, shape->rank);
        if (partial_shape_admits(wanted, &longer) && at > 0)
            return !fail_hint(err, "in NumPy np.expand_dims(x, %" PRIu32 ") adds the axis", at);
    }
    bool fits = partial_shape_admits(wanted, &longer);
    if (!fits && !find_other_axis(wanted, &longer, &axis))
        return hint_moved_axis(records, &longer, "x[None]", err);
    return !fail_hint(err,
                      fits ? "a record has rank %" PRIu32 ": in NumPy x[None] adds an axis in front"
                           : "a record has rank %" PRIu32
                             ": in NumPy x[None] adds an axis in front, "
                             "--axis=%s%s%" PRIu32 " then cuts it",
                      wanted->rank, name, equals, axis);
}

bool records_fail_type(const struct records *records, const struct array_header *header,
                       struct irrun_error *err)
{
    const struct records_port *port = &records->port;
    char found[SHAPE_TEXT_BYTES], wanted[SHAPE_TEXT_BYTES];
    shape_format(&header->shape, found);
    partial_shape_format(&port->shape, wanted);
    if (port->type_code != IRRUN_OK)
        return fail_at(err, port->type_code, records_place(records), "this array is %s %s",
                       irrun_dtype_name(header->dtype), found);
    fail_at(err, IRRUN_DATA, records_place(records), "%s \"%s\" is %s %s, but this array is %s %s",
            port->what, port->name, irrun_dtype_name(port->dtype), wanted,
            irrun_dtype_name(header->dtype), found);
    uint32_t rank = port->shape.rank, own_rank = header->shape.rank, axis;
    if (port->shape.is_rank_dynamic)
        return false;
    if (records->axis && own_rank == rank + 1 && records->options && records->options->rate_hz > 0)
        return fail_hint(err,
                         "--rate counts along the axis: in NumPy np.concatenate(x, %" PRId64
                         ") joins the records, which --axis divides again",
                         records->axis->axis);
    if (records->axis)
        return own_rank != rank &&
               fail_hint(err,
                         own_rank == rank + 1   ? "a stack of records needs no --axis: omit it"
                         : own_rank + 1 == rank ? "--axis needs an array of rank %" PRIu32
                                                  ": in NumPy x[None] adds an axis in front"
                                                : "--axis needs an array of rank %" PRIu32,
                         rank);
    if (own_rank == rank && find_other_axis(&port->shape, &header->shape, &axis))
        return hint_length(records, &header->shape, axis, err);
    if (own_rank == rank && hint_moved_axis(records, &header->shape, "x", err))
        return false;
    if (own_rank == rank + 1 && rank > 0)
        return hint_stack(&port->shape, &header->shape, err);
    if (own_rank + 1 == rank && hint_missing_axis(records, &header->shape, err))
        return false;
    return fail_hint(err,
                     "one record has rank %" PRIu32 ", a stack of records rank %" PRIu32
                     "; --axis=K splits an array along axis K",
                     rank, rank + 1);
}

/* ---- --axis ---------------------------------------------------------------------------------- */

/* Returns the axis that was probably meant: one with the length of a slice, or the last one. */
static uint32_t likely_axis(const struct records *records, uint32_t rank, int64_t chunk)
{
    const struct irrun_partial_shape *shape = &records->port.shape;
    for (uint32_t i = 0; i < rank && !shape->is_rank_dynamic; i++)
        if (chunk > 0 && shape->max[i] == chunk)
            return i;
    return rank - 1;
}

static bool may_be_chunk(const struct records *records, uint32_t axis, int64_t chunk)
{
    const struct irrun_partial_shape *shape = &records->port.shape;
    return shape->is_rank_dynamic || (chunk >= shape->min[axis] && chunk <= shape->max[axis]);
}

bool records_check_chunk(const struct records *records, uint32_t axis, int64_t chunk,
                         struct irrun_error *err)
{
    const struct irrun_partial_shape *shape = &records->port.shape;
    const char *equals, *name = records_option_name(records, &equals);
    if (may_be_chunk(records, axis, chunk))
        return true;
    fail(err, IRRUN_USAGE, "--axis=%s%s%" PRIu32 ":%" PRId64 ": a record of \"%s\" takes", name,
         equals, axis, chunk, records->port.name);
    if (shape->max[axis] == INT64_MAX)
        return fail_append(err, " at least %" PRId64 " numbers along axis %" PRIu32,
                           shape->min[axis], axis);
    if (shape->min[axis] != shape->max[axis])
        return fail_append(err, " %" PRId64 " to %" PRId64 " numbers along axis %" PRIu32,
                           shape->min[axis], shape->max[axis], axis);
    fail_append(err, " %" PRId64 " number%s along axis %" PRIu32, shape->min[axis],
                shape->min[axis] == 1 ? "" : "s", axis);
    return fail_hint(err, "%swrite --axis=%s%s%" PRIu32,
                     records->is_unsized ? "omit --axis, or " : "", name, equals, axis);
}

bool records_fail_axis(const struct records *records, uint32_t rank, struct irrun_error *err)
{
    const struct axis_spec *axis = records->axis;
    char chunk[24] = "", shape[SHAPE_TEXT_BYTES];
    fail(err, IRRUN_USAGE, "--axis=%" PRId64 ": %s \"%s\" is %s", axis->axis, records->port.what,
         records->port.name, partial_shape_format(&records->port.shape, shape));
    if (rank == 0)
        return fail_append(err, ", which has no axis");
    if (rank == 1)
        fail_append(err, ": its only axis is 0");
    else
        fail_append(err, ": its axes are 0 to %" PRIu32, rank - 1);
    /* For --axis=512: the length of a slice was given instead of the axis. */
    int64_t length = axis->chunk > 0 ? axis->chunk : axis->axis;
    uint32_t likely = likely_axis(records, rank, length);
    if (axis->chunk > 0 || (length > IRRUN_MAX_RANK && may_be_chunk(records, likely, length)))
        snprintf(chunk, sizeof chunk, ":%" PRId64, length);
    return fail_hint(err, "write --axis=%s%s%" PRIu32 "%s", axis->name ? axis->name : "",
                     axis->name ? "=" : "", likely, chunk);
}
