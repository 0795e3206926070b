/* The whole run of a model, and --check.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_H
#define IRRUN_CLI_RUN_H

#include "cli/options.h"
#include "cli/stats.h"

/* Runs the model as the options say: reads, iterates, writes, compares, shows --stats. Fails with
 * what comes up first; a difference from --expect is IRRUN_MISMATCH, with all outputs in place.
 * reference: the model of --diff, or NULL.
 * For --stats: `start`, the clocks before the model was loaded; load_s, what loading took. */
bool run_model(struct irrun_model *model, struct irrun_model *reference,
               const struct options *options, const struct stats_clocks *start, double load_s,
               struct irrun_error *err);

/* Runs --check: everything but the iterations. Without inputs, a model with open dimensions is not
 * planned. */
bool check_model(struct irrun_model *model, const struct options *options, struct irrun_error *err);

#endif
