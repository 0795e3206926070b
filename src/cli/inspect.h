/* --inspect and --list-ops: describe a model without running it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_INSPECT_H
#define IRRUN_CLI_INSPECT_H

#include "base/text.h"
#include "cli/options.h"

/* Print to standard output. The model was loaded with is_dry. */
bool inspect_as_text(struct irrun_model *model, const struct options *options,
                     struct irrun_error *err);
bool inspect_as_json(struct irrun_model *model, const struct options *options,
                     struct irrun_error *err);
bool inspect_list_ops(struct irrun_model *model, struct irrun_error *err);

/* Appends hints to `text`, each with a NUL at its end, and returns their number. They suggest
 * --feed for inputs that look like states, sources for the usual inputs of text-generation models,
 * and --low-latency for models that can run in chunks. */
size_t inspect_add_hints(const struct irrun_model *model, const struct irrun_analysis *analysis,
                         const struct options *options, struct text *text);

#endif
