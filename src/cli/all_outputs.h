/* The values that -o and --until can name: the outputs of the model, followed by the inputs of
 * --feed, with their values for the next iteration.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_ALL_OUTPUTS_H
#define IRRUN_CLI_ALL_OUTPUTS_H

#include "cli/options.h"

/* Checks the names of --feed. Fails with IRRUN_USAGE. */
bool all_outputs_check_feeds(const struct irrun_model *model, const struct options *options,
                             struct irrun_error *err);

size_t all_outputs_count(const struct irrun_model *model, const struct options *options);

/* Finds an output of the model or, if no output has this name, an input of --feed. */
bool all_outputs_find(const struct irrun_model *model, const struct options *options,
                      const char *name, size_t *index, struct irrun_error *err);
const char *all_outputs_name(const struct irrun_model *model, const struct options *options,
                             size_t index);

#endif
