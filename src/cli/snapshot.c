/* Copies variables out of a session and its inputs, and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void snapshot_free(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n; i++)
        free(snapshot->values[i].data);
    free(snapshot->values);
    *snapshot = (struct snapshot){.values = NULL};
}

bool snapshot_new(struct snapshot *snapshot, size_t n, struct irrun_error *err)
{
    snapshot_free(snapshot);
    snapshot->values = new_array(n, sizeof *snapshot->values, err);
    snapshot->n = snapshot->values ? n : 0;
    return snapshot->values != NULL;
}

bool snapshot_copy(struct irrun_tensor *copy, const struct irrun_tensor *value,
                   struct irrun_error *err)
{
    size_t size_bytes = tensor_n_bytes(value);
    *copy = *value;
    copy->data = new_array(size_bytes, 1, err);
    if (copy->data && size_bytes > 0)
        memcpy(copy->data, value->data, size_bytes);
    return copy->data != NULL;
}

bool snapshot_save(struct snapshot *snapshot, const struct all_variables *variables,
                   struct irrun_error *err)
{
    if (!snapshot_new(snapshot, all_variables_count(variables), err))
        return false;
    for (size_t i = 0; i < snapshot->n; i++) {
        const struct irrun_tensor *value = all_variables_value(variables, i);
        if (value && !snapshot_copy(&snapshot->values[i], value, err))
            return false;
    }
    return true;
}

bool snapshot_restore(const struct snapshot *snapshot, const struct all_variables *variables,
                      struct irrun_error *err)
{
    if (!all_variables_reset(variables, err))
        return false;
    for (size_t i = 0; i < snapshot->n; i++)
        if (snapshot->values[i].data && !all_variables_set(variables, i, &snapshot->values[i], err))
            return false;
    return true;
}
