/* Runs a model, or checks that it can run (--check).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_H
#define IRRUN_CLI_RUN_H

#include "cli/options.h"
#include "cli/stats.h"

/* Runs the model. Fails with the first error. If only --expect differs, fails with IRRUN_MISMATCH
 * after all outputs are written. reference: the model of --diff, or NULL. start: the clocks before
 * the model was loaded; load_s: the time to load it. */
bool run_model(struct irrun_model *model, struct irrun_model *reference,
               const struct options *options, const struct stats_clocks *start, double load_s,
               struct irrun_error *err);

/* Does everything except the iterations. Without inputs, a model with open dimensions is not
 * planned, with a warning. */
bool check_model(struct irrun_model *model, const struct options *options, struct irrun_error *err);

#endif
