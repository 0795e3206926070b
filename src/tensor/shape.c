/* Shapes and partial shapes. shape_parse.c parses them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/shape.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"

bool shape_count(const struct irrun_shape *shape, int64_t *n_elements)
{
    /* The product without zeros must not overflow either, so that no partial product does. */
    int64_t product = 1;
    bool is_empty = false;
    for (uint32_t i = 0; i < shape->rank; i++) {
        int64_t dim = shape->dims[i];
        if (dim < 0 || (dim != 0 && !checked_mul_i64(product, dim, &product)))
            return false;
        is_empty = is_empty || dim == 0;
    }
    *n_elements = is_empty ? 0 : product;
    return true;
}

int64_t shape_n_elements(const struct irrun_shape *shape)
{
    return shape_product(shape, 0, shape->rank);
}

int64_t shape_product(const struct irrun_shape *shape, uint32_t from, uint32_t to)
{
    int64_t product = 1;
    for (uint32_t i = from; i < to; i++)
        product *= shape->dims[i];
    return product;
}

bool shape_equals(const struct irrun_shape *a, const struct irrun_shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

struct irrun_shape shape_of(uint32_t rank, const int64_t *dims)
{
    assert(rank <= IRRUN_MAX_RANK);
    struct irrun_shape shape = {.rank = rank};
    if (rank != 0)
        memcpy(shape.dims, dims, rank * sizeof dims[0]);
    return shape;
}

void shape_append(struct irrun_shape *shape, const struct irrun_shape *other, uint32_t from,
                  uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        shape->dims[shape->rank++] = other->dims[i];
}

struct irrun_shape shape_unravel(const struct irrun_shape *shape, size_t element)
{
    struct irrun_shape at = *shape;
    for (uint32_t i = shape->rank; i-- > 0;) {
        at.dims[i] = (int64_t)(element % (size_t)shape->dims[i]);
        element /= (size_t)shape->dims[i];
    }
    return at;
}

/* Text that is written item by item, and truncated with "…" if it does not fit. */
struct writer {
    char *out;
    size_t length;
    bool is_full;
};

static void write_item(struct writer *writer, const char *item)
{
    static const char ellipsis[] = "\xE2\x80\xA6]";
    size_t n = strlen(item);
    if (writer->is_full)
        return;
    if (writer->length + n + sizeof ellipsis > SHAPE_TEXT_BYTES) {
        writer->is_full = true;
        item = ellipsis;
        n = sizeof ellipsis - 1;
    }
    memcpy(writer->out + writer->length, item, n + 1);
    writer->length += n;
}

char *shape_format(const struct irrun_shape *shape, char out[SHAPE_TEXT_BYTES])
{
    struct irrun_partial_shape partial = partial_shape_of(shape);
    return partial_shape_format(&partial, out);
}

char *partial_shape_format(const struct irrun_partial_shape *shape, char out[SHAPE_TEXT_BYTES])
{
    struct writer writer = {out, 0, false};
    if (shape->is_rank_dynamic) {
        write_item(&writer, "[...]");
        return out;
    }
    write_item(&writer, "[");
    for (uint32_t i = 0; i < shape->rank; i++) {
        int64_t min = shape->min[i], max = shape->max[i];
        const char *comma = i == 0 ? "" : ",";
        char item[64];
        if (min == max)
            snprintf(item, sizeof item, "%s%" PRId64, comma, min);
        else if (min == 0 && max == INT64_MAX)
            snprintf(item, sizeof item, "%s?", comma);
        else if (max == INT64_MAX)
            snprintf(item, sizeof item, "%s%" PRId64 "..", comma, min);
        else if (min == 0)
            snprintf(item, sizeof item, "%s..%" PRId64, comma, max);
        else
            snprintf(item, sizeof item, "%s%" PRId64 "..%" PRId64, comma, min, max);
        write_item(&writer, item);
    }
    write_item(&writer, "]");
    return out;
}

struct irrun_partial_shape partial_shape_of(const struct irrun_shape *shape)
{
    struct irrun_partial_shape partial = {.rank = shape->rank};
    memcpy(partial.min, shape->dims, shape->rank * sizeof shape->dims[0]);
    memcpy(partial.max, shape->dims, shape->rank * sizeof shape->dims[0]);
    return partial;
}

struct irrun_partial_shape partial_shape_any(void)
{
    return (struct irrun_partial_shape){.is_rank_dynamic = true};
}

bool partial_shape_is_static(const struct irrun_partial_shape *shape)
{
    if (shape->is_rank_dynamic)
        return false;
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->min[i] != shape->max[i])
            return false;
    return true;
}

bool partial_shape_to_shape(const struct irrun_partial_shape *partial, struct irrun_shape *shape)
{
    if (!partial_shape_is_static(partial))
        return false;
    *shape = shape_of(partial->rank, partial->min);
    return true;
}

bool partial_shape_admits(const struct irrun_partial_shape *partial,
                          const struct irrun_shape *shape)
{
    if (partial->is_rank_dynamic)
        return true;
    if (partial->rank != shape->rank)
        return false;
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] < partial->min[i] || shape->dims[i] > partial->max[i])
            return false;
    return true;
}

bool shape_broadcast(const struct irrun_shape *a, const struct irrun_shape *b,
                     struct irrun_shape *out)
{
    const struct irrun_shape *longer = a->rank >= b->rank ? a : b;
    const struct irrun_shape *shorter = longer == a ? b : a;
    struct irrun_shape result = *longer;
    uint32_t n_missing = longer->rank - shorter->rank;
    for (uint32_t i = 0; i < shorter->rank; i++) {
        int64_t x = longer->dims[n_missing + i], y = shorter->dims[i];
        if (x != y && x != 1 && y != 1)
            return false;
        result.dims[n_missing + i] = x == 1 ? y : x;
    }
    *out = result;
    return true;
}
