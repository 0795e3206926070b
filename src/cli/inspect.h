/* --inspect and --list-ops: describe a model without running it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_INSPECT_H
#define IRRUN_CLI_INSPECT_H

#include "cli/options.h"

/* Print to standard output. The models were loaded with is_dry. */
bool inspect_as_text(struct irrun_model *model, const struct options *options,
                     struct irrun_error *err);
bool inspect_as_json(struct irrun_model *model, const struct options *options,
                     struct irrun_error *err);
bool inspect_list_ops(struct irrun_model *model, struct irrun_error *err);

#endif
