/* Joins the tensors of several records along axis 0, for --batch.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ROW_BATCH_H
#define IRRUN_CLI_ROW_BATCH_H

#include "tensor/tensor.h"

/* All rows have the type and shape of the first. A row is the tensor of one record; its axis 0 may
 * be longer than 1. All zeros: no rows. */
struct row_batch {
    struct irrun_tensor row; /* the first row; its data is NULL for an unset variable */
    void *data;              /* [n_rows][row_bytes] */
    size_t capacity_bytes, row_bytes;
};

void row_batch_free(struct row_batch *batch);

/* Sets the type and shape of the rows; value->data is NULL for an unset variable. */
void row_batch_begin(struct row_batch *batch, const struct irrun_tensor *value);

/* Returns whether the value has the type and shape of the first row, or is unset like it. */
bool row_batch_matches(const struct row_batch *batch, const struct irrun_tensor *value);

/* Copies a value to row `row`. Rows are added in order. Memory grows with the rows, because a row
 * may be large. */
bool row_batch_add(struct row_batch *batch, size_t row, const struct irrun_tensor *value,
                   struct irrun_error *err);

/* Returns a view of rows [first, first + n) as one tensor. */
struct irrun_tensor row_batch_view(const struct row_batch *batch, size_t first, size_t n);

/* Sets *slice to a view of row `row` of a tensor of n rows. Fails with IRRUN_UNSUPPORTED if n does
 * not divide axis 0; `name` is for the message. */
bool row_batch_slice(const struct irrun_tensor *all, size_t row, size_t n, const char *name,
                     struct irrun_tensor *slice, struct irrun_error *err);

#endif
