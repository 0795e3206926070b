/* Copies the rows of a batch into one block of memory, and returns views of rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/row_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"

void row_batch_free(struct row_batch *batch)
{
    free(batch->data);
}

bool row_batch_matches(const struct row_batch *batch, const struct irrun_tensor *value)
{
    bool is_set = value->data != NULL;
    return is_set == (batch->row.data != NULL) &&
           (!is_set ||
            (batch->row.dtype == value->dtype && shape_equals(&batch->row.shape, &value->shape)));
}

void row_batch_begin(struct row_batch *batch, const struct irrun_tensor *value)
{
    batch->row = *value;
    batch->row_bytes = value->data ? tensor_n_bytes(value) : 0;
}

bool row_batch_add(struct row_batch *batch, size_t row, const struct irrun_tensor *value,
                   struct irrun_error *err)
{
    size_t n_bytes;
    if (!checked_mul(batch->row_bytes, row + 1, &n_bytes))
        return fail_memory(err, SIZE_MAX);
    if (!reserve_array(&batch->data, n_bytes + 1, &batch->capacity_bytes, 1, err))
        return false;
    if (batch->row_bytes > 0)
        memcpy((char *)batch->data + row * batch->row_bytes, value->data, batch->row_bytes);
    return true;
}

struct irrun_tensor row_batch_view(const struct row_batch *batch, size_t first, size_t n)
{
    struct irrun_tensor all = batch->row;
    if (n > 1)
        all.shape.dims[0] *= (int64_t)n;
    all.data = (char *)batch->data + first * batch->row_bytes;
    return all;
}

bool row_batch_slice(const struct irrun_tensor *all, size_t row, size_t n, const char *name,
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
