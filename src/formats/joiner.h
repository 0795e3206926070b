/* Concatenates the records of a sequence in memory, along one of their axes or a new leading axis.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_FORMATS_JOINER_H
#define IRRUN_FORMATS_JOINER_H

#include "tensor/tensor.h"

/* All zeros: empty. */
struct joiner {
    enum irrun_dtype dtype;
    struct irrun_shape shape; /* of the result so far */
    uint32_t axis;            /* the axis of concatenation */
    unsigned char *data;      /* the records, one after another */
    size_t n_bytes, capacity;
    int64_t *lengths; /* of each record along the axis */
    size_t n_records, lengths_capacity;
};

/* Append a copy of `record`, along one of its axes (`axis` may be negative) or along a new leading
 * axis. Fail with IRRUN_USAGE if the record does not have the axis, with IRRUN_DATA if it does not
 * match earlier ones. `name` is that of the output. */
bool joiner_concat(struct joiner *joiner, const struct irrun_tensor *record, int axis,
                   const char *name, struct irrun_error *err);
bool joiner_stack(struct joiner *joiner, const struct irrun_tensor *record, const char *name,
                  struct irrun_error *err);

/* Fails with IRRUN_USAGE if a record of this shape does not have `axis`, which may be
 * negative. */
bool joiner_check_axis(const struct irrun_shape *shape, int axis, const char *name,
                       struct irrun_error *err);

bool joiner_is_empty(const struct joiner *joiner);

/* Returns the result, a view of the joiner's memory. The joiner must not be empty. */
bool joiner_result(struct joiner *joiner, struct irrun_tensor *whole, struct irrun_error *err);

void joiner_clear(struct joiner *joiner); /* empties it; keeps its memory */
void joiner_free(struct joiner *joiner);

#endif
