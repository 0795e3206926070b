/* Copies the rows of a batch into one block, and makes views of rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/joined.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"

void joined_free(struct joined *joined)
{
    free(joined->data);
}

bool joined_matches(const struct joined *joined, const struct irrun_tensor *value)
{
    bool is_set = value->data != NULL;
    return is_set == (joined->row.data != NULL) &&
           (!is_set ||
            (joined->row.dtype == value->dtype && shape_equals(&joined->row.shape, &value->shape)));
}

void joined_begin(struct joined *joined, const struct irrun_tensor *value)
{
    joined->row = *value;
    joined->row_bytes = value->data ? tensor_n_bytes(value) : 0;
}

bool joined_add(struct joined *joined, size_t row, const struct irrun_tensor *value,
                struct irrun_error *err)
{
    size_t n_bytes;
    if (!checked_mul(joined->row_bytes, row + 1, &n_bytes))
        return fail_memory(err, SIZE_MAX);
    if (!reserve_array(&joined->data, n_bytes + 1, &joined->capacity_bytes, 1, err))
        return false;
    if (joined->row_bytes > 0)
        memcpy((char *)joined->data + row * joined->row_bytes, value->data, joined->row_bytes);
    return true;
}

struct irrun_tensor joined_rows(const struct joined *joined, size_t first, size_t n)
{
    struct irrun_tensor all = joined->row;
    if (n > 1)
        all.shape.dims[0] *= (int64_t)n;
    all.data = (char *)joined->data + first * joined->row_bytes;
    return all;
}

bool joined_slice(const struct irrun_tensor *all, size_t row, size_t n, const char *name,
                  struct irrun_tensor *slice, struct irrun_error *err)
{
    char text[SHAPE_TEXT_BYTES];
    *slice = *all;
    if (n == 1)
        return true;
    if (all->shape.rank == 0 || all->shape.dims[0] % (int64_t)n != 0)
        return fail(err, IRRUN_UNSUPPORTED,
                    "--batch: axis 0 of \"%s\" %s cannot be divided among %zu records", name,
                    shape_format(&all->shape, text), n);
    slice->shape.dims[0] /= (int64_t)n;
    slice->data = (char *)all->data + row * tensor_n_bytes(slice);
    return true;
}
