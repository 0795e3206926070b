/* Prepares and runs a model, or checks it for --check.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_RUN_H
#define IRRUN_CLI_RUN_H

#include "cli/options.h"
#include "cli/stats.h"

/* Sets lists of irrun_options: unread to the outputs with -o NAME=none:, read_last to the outputs
 * from which --feed chooses indices, and read to those that other options name. If an option reads
 * all outputs, leaves the lists empty. Returns the memory of the lists, which the caller frees, or
 * NULL if the allocation fails. */
const char **set_read_outputs(const struct options *options, struct irrun_options *model_options,
                              struct irrun_error *err);

/* --sandbox: restricts the process to the files that the options name, and libraries of the system.
 * With a manifest, which names further files, all files stay allowed, and --sandbox=always fails
 * with IRRUN_USAGE. Fails with IRRUN_SYSTEM if the kernel cannot enforce --sandbox=always. Does not
 * restrict threads that exist already. */
bool run_sandbox_enter(const struct options *options, struct irrun_error *err);

/* Runs the model. Fails with the first error. If the only failure is a difference from --expect,
 * fails with IRRUN_MISMATCH after all outputs are written. reference: the model of --diff, or NULL.
 * start: the clocks before the model was loaded; load_s: the time to load it. */
bool run_model(struct irrun_model *model, struct irrun_model *reference,
               const struct options *options, const struct stats_clocks *start, double load_s,
               struct irrun_error *err);

/* Does everything except the iterations. If no inputs are given and the model has dynamic
 * dimensions, warns instead of planning it. */
bool check_model(struct irrun_model *model, const struct options *options, struct irrun_error *err);

#endif
