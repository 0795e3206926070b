/* The whole run of a model, and --check.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_H
#define IRRUN_CLI_RUN_H

#include "cli/options.h"
#include "cli/stats.h"

/* Runs the model: reads, iterates, writes, compares, prints --stats. Fails with the first error. If
 * only --expect differs, it fails with IRRUN_MISMATCH and all outputs are written. reference: the
 * model of --diff, or NULL. For --stats: `start` is the clocks before the model was loaded, load_s
 * the time to load it. */
bool run_model(struct irrun_model *model, struct irrun_model *reference,
               const struct options *options, const struct stats_clocks *start, double load_s,
               struct irrun_error *err);

/* Runs --check: does everything except the iterations. If inputs are missing, a model with open
 * dimensions is not planned. */
bool check_model(struct irrun_model *model, const struct options *options, struct irrun_error *err);

#endif
