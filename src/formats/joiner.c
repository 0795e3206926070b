/* Collects records one after another, and reorders them at the end if the axis is not the first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/joiner.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"
#include "formats/format_internal.h"

bool joiner_is_empty(const struct joiner *joiner)
{
    return joiner->n_records == 0;
}

void joiner_clear(struct joiner *joiner)
{
    joiner->n_records = joiner->n_bytes = 0;
}

void joiner_free(struct joiner *joiner)
{
    free(joiner->data);
    free(joiner->lengths);
    *joiner = (struct joiner){0};
}

static bool fits(const struct joiner *joiner, const struct irrun_tensor *record)
{
    struct irrun_shape shape = record->shape;
    shape.dims[joiner->axis] = joiner->shape.dims[joiner->axis];
    return record->dtype == joiner->dtype && shape_equals(&shape, &joiner->shape);
}

/* Appends a record whose rank is above `axis`. */
static bool append(struct joiner *joiner, const struct irrun_tensor *record, uint32_t axis,
                   const char *name, struct irrun_error *err)
{
    if (joiner_is_empty(joiner)) {
        joiner->dtype = record->dtype;
        joiner->shape = record->shape;
        joiner->shape.dims[axis] = 0;
        joiner->axis = axis;
    }
    char a[SHAPE_TEXT_BYTES], b[SHAPE_TEXT_BYTES];
    if (!fits(joiner, record))
        return fail(err, IRRUN_DATA,
                    "output \"%s\": a record of %s %s cannot be joined along axis %u to %s %s",
                    name, irrun_dtype_name(record->dtype), shape_format(&record->shape, a), axis,
                    irrun_dtype_name(joiner->dtype), shape_format(&joiner->shape, b));
    size_t size_bytes = tensor_n_bytes(record), n_bytes;
    int64_t *length = &joiner->shape.dims[axis];
    if (!checked_add(joiner->n_bytes, size_bytes, &n_bytes) ||
        !checked_add_i64(*length, record->shape.dims[axis], length))
        return fail_memory(err, SIZE_MAX);
    if (!GROW_ARRAY(joiner->lengths, joiner->n_records, joiner->lengths_capacity, err) ||
        !reserve_array((void **)&joiner->data, n_bytes, &joiner->capacity, 1, err))
        return false;
    if (size_bytes != 0)
        memcpy(joiner->data + joiner->n_bytes, record->data, size_bytes);
    joiner->n_bytes = n_bytes;
    joiner->lengths[joiner->n_records++] = record->shape.dims[axis];
    return true;
}

bool joiner_check_axis(const struct irrun_shape *shape, int axis, const char *name,
                       struct irrun_error *err)
{
    int rank = (int)shape->rank;
    char text[SHAPE_TEXT_BYTES];
    if (axis >= -rank && axis < rank)
        return true;
    fail(err, IRRUN_USAGE, "output \"%s\" is %s: it has no axis %d to join along", name,
         shape_format(shape, text), axis);
    return rank == 0   ? fail_hint(err, "without --concat its records become a stack")
           : rank == 1 ? fail_hint(err, "its only axis is 0")
                       : fail_hint(err, "its axes are 0 to %d", rank - 1);
}

bool joiner_concat(struct joiner *joiner, const struct irrun_tensor *record, int axis,
                   const char *name, struct irrun_error *err)
{
    int rank = (int)record->shape.rank;
    return joiner_check_axis(&record->shape, axis, name, err) &&
           append(joiner, record, (uint32_t)(axis < 0 ? axis + rank : axis), name, err);
}

bool joiner_stack(struct joiner *joiner, const struct irrun_tensor *record, const char *name,
                  struct irrun_error *err)
{
    struct irrun_tensor slice = *record;
    return stacked_shape(&record->shape, 1, name, &slice.shape, err) &&
           append(joiner, &slice, 0, name, err);
}

bool joiner_result(struct joiner *joiner, struct irrun_tensor *whole, struct irrun_error *err)
{
    *whole = (struct irrun_tensor){joiner->dtype, joiner->shape, joiner->data};
    int64_t n_outer = shape_product(&joiner->shape, 0, joiner->axis);
    if (n_outer <= 1 || joiner->n_records == 1 || joiner->n_bytes == 0)
        return true;
    /* Reorders [record][outer][length][inner] to [outer][record, length][inner]. */
    size_t inner_bytes =
        dtype_size(joiner->dtype) *
        (size_t)shape_product(&joiner->shape, joiner->axis + 1, joiner->shape.rank);
    unsigned char *joined = malloc(joiner->n_bytes);
    if (joined == NULL)
        return fail_memory(err, joiner->n_bytes);
    unsigned char *to = joined;
    for (int64_t outer = 0; outer < n_outer; outer++) {
        const unsigned char *record = joiner->data;
        for (size_t i = 0; i < joiner->n_records; i++) {
            size_t piece = (size_t)joiner->lengths[i] * inner_bytes;
            if (piece != 0)
                memcpy(to, record + (size_t)outer * piece, piece);
            to += piece;
            record += (size_t)n_outer * piece;
        }
    }
    free(joiner->data);
    joiner->data = joined;
    joiner->capacity = joiner->n_bytes;
    whole->data = joined;
    return true;
}
