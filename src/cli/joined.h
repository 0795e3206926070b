/* Tensors of several records, joined along axis 0 for --batch.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_JOINED_H
#define IRRUN_CLI_JOINED_H

#include "tensor/tensor.h"

/* All rows have the type and shape of the first. A row is the tensor of one record; its axis 0 may
 * be longer than 1. All zeros: no rows. */
struct joined {
    struct irrun_tensor row; /* data: of the first; NULL for an unset variable */
    void *data;              /* [n_rows][row_bytes] */
    size_t capacity_bytes, row_bytes;
};

void joined_free(struct joined *joined);

/* Takes the type and shape of the first row; value->data is NULL for an unset variable. */
void joined_begin(struct joined *joined, const struct irrun_tensor *value);

/* Returns whether the value has the type and shape of the first row, or is unset like it. */
bool joined_matches(const struct joined *joined, const struct irrun_tensor *value);

/* Copies a value to row `row`. Rows are added in order. Memory grows with each row, because a row
 * may be large. */
bool joined_add(struct joined *joined, size_t row, const struct irrun_tensor *value,
                struct irrun_error *err);

/* Returns rows [first, first + n) as one tensor, a view. */
struct irrun_tensor joined_rows(const struct joined *joined, size_t first, size_t n);

/* Sets *slice to row `row` of a tensor of n rows, a view. Fails with IRRUN_UNSUPPORTED if axis 0
 * cannot be divided by n; `name` is for the message. */
bool joined_slice(const struct irrun_tensor *all, size_t row, size_t n, const char *name,
                  struct irrun_tensor *slice, struct irrun_error *err);

#endif
