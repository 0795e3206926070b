/* Copies of the values of all variables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_SNAPSHOT_H
#define IRRUN_CLI_SNAPSHOT_H

#include "cli/all_variables.h"

/* All zeros: all variables are unset. */
struct snapshot {
    struct irrun_tensor *values; /* [n]; data malloc'ed; NULL: unset */
    size_t n;
};

/* Set the snapshot to n unset values, or to copies of the variables. Free the previous values. */
bool snapshot_new(struct snapshot *snapshot, size_t n, struct irrun_error *err);
bool snapshot_save(struct snapshot *snapshot, const struct all_variables *variables,
                   struct irrun_error *err);

/* Copies a value into new memory. */
bool snapshot_copy(struct irrun_tensor *copy, const struct irrun_tensor *value,
                   struct irrun_error *err);

/* Sets the variables to the values of the snapshot. Resets the variables that are unset in the
 * snapshot. */
bool snapshot_restore(const struct snapshot *snapshot, const struct all_variables *variables,
                      struct irrun_error *err);
void snapshot_free(struct snapshot *snapshot);

#endif
