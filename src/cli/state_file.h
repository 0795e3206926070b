/* --state-in and --state-out: read and write variables in an npz, one member per variable, named by
 * its id.
 *
 * The comment of the archive identifies the model: digests of the XML and of the weights. Files of
 * version 1 give the size of the weights instead of their digest, so only the size is compared.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_STATE_FILE_H
#define IRRUN_CLI_STATE_FILE_H

#include "cli/model_identity.h"
#include "cli/snapshot.h"

/* Reads the values of all variables into *snapshot. Fails with IRRUN_DATA for members that are
 * missing, unknown or of the wrong type or shape, and for a file of a different model unless
 * is_any_model. A file without irrun's comment may come from NumPy, and is accepted. */
bool state_file_read(const char *path, const struct all_variables *variables,
                     const struct model_identity *identity, bool is_any_model,
                     struct snapshot *snapshot, struct irrun_error *err);

/* Writes values of the variables; NULL: unset. The file is renamed when it is complete. */
bool state_file_write(const char *path, const struct all_variables *variables,
                      const struct irrun_tensor *const *values,
                      const struct model_identity *identity, bool is_synced,
                      struct irrun_error *err);

#endif
