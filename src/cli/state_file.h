/* --state-in and --state-out: variables in an npz, a member for each, named by its id.
 *
 * The comment of the archive says which model it is of: digests of the XML and of the weights. That
 * of version 1 has the size of the weights in the place of their digest, and is taken at its word.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_STATE_FILE_H
#define IRRUN_CLI_STATE_FILE_H

#include "cli/model_identity.h"
#include "cli/snapshot.h"

/* Reads the values of all variables into *snapshot. IRRUN_DATA for members that are
 * missing, too many or of another type or shape, and for a file of another model unless
 * is_any_model; one without our comment is taken for NumPy's. */
bool state_file_read(const char *path, const struct all_variables *variables,
                     const struct model_identity *identity, bool is_any_model,
                     struct snapshot *snapshot, struct irrun_error *err);

/* Writes the variables; the file appears complete or not at all. */
bool state_file_write(const char *path, const struct all_variables *variables,
                      const struct model_identity *identity, bool is_synced,
                      struct irrun_error *err);

#endif
