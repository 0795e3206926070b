/* Options that --inspect suggests for a model.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_INSPECT_HINTS_H
#define IRRUN_CLI_INSPECT_HINTS_H

#include "base/text.h"
#include "cli/options.h"

/* Adds the hints to `text`, each with a NUL at its end, and returns their number: --feed for inputs
 * that look like states, --low-latency for models that can run in chunks. */
size_t inspect_add_hints(const struct irrun_model *model, const struct irrun_analysis *analysis,
                         const struct options *options, struct text *text);

#endif
