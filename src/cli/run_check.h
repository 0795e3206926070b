/* What is wrong with a run before it begins, or will not be looked at.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_CHECK_H
#define IRRUN_CLI_RUN_CHECK_H

#include "cli/options.h"

/* IRRUN_USAGE for options that cannot be used together or need others; warns of those that have no
 * effect. */
bool run_check(const struct irrun_model *model, const struct options *options,
               struct irrun_error *err);

/* --check without inputs: whether open dimensions keep the model from being planned, which it
 * warns of. */
bool warn_unchecked(const struct irrun_model *model, const struct options *options);

#endif
