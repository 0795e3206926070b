/* The run of a model, its preparation, and --check.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_H
#define IRRUN_CLI_RUN_H

#include "cli/options.h"
#include "cli/stats.h"

/* Sets the lists of irrun_options: unread to the outputs with -o NAME=none:, read_last to those of
 * which --feed chooses indices, and read to those that other options name. If an option reads all
 * outputs, leaves the lists empty. Returns the memory of the lists, which the caller frees; NULL if
 * there is none. */
const char **readings_set(const struct options *options, struct irrun_options *model_options,
                          struct irrun_error *err);

/* --sandbox: limits the process to the files that the options name, and libraries of the system.
 * With a manifest, which names others, all files stay allowed, and --sandbox=always fails with
 * IRRUN_USAGE. Fails with IRRUN_SYSTEM if --sandbox=always and the kernel offers too little.
 * Threads that exist already keep their rights. */
bool run_sandbox_enter(const struct options *options, struct irrun_error *err);

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
