/* What a run reads of the outputs of its model.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_READINGS_H
#define IRRUN_CLI_READINGS_H

#include "cli/options.h"

/* Sets the lists of irrun_options: unread to the outputs with -o NAME=none:, read_last to those of
 * which --feed chooses indices, and read to those that other options name. If an option reads all
 * outputs, leaves the lists empty. Returns the memory of the lists, which the caller frees; NULL if
 * there is none. */
const char **readings_set(const struct options *options, struct irrun_options *how,
                          struct irrun_error *err);

#endif
