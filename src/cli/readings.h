/* What a run reads of the outputs of its model.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_READINGS_H
#define IRRUN_CLI_READINGS_H

#include "cli/options.h"

/* Sets unread, read_last and read: from outputs that are written to none: by name, outputs of which
 * --feed chooses indices, and what else reads outputs. The names are in a list that the caller
 * frees. Returns NULL if there is no memory. */
const char **readings_set(const struct options *options, struct irrun_options *how,
                          struct irrun_error *err);

#endif
