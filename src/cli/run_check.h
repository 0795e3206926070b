/* Checks a run before it begins.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_CHECK_H
#define IRRUN_CLI_RUN_CHECK_H

#include "cli/options.h"

/* Fails with IRRUN_USAGE if options cannot be used together or need others. Warns of options that
 * have no effect. */
bool run_check(const struct irrun_model *model, const struct options *options,
               struct irrun_error *err);

/* Returns whether --check without inputs cannot plan the model because of open dimensions; if so,
 * warns. */
bool warn_unchecked(const struct irrun_model *model, const struct options *options);

#endif
