/* --diff: compares every tensor with a reference, and stops at the first op whose output differs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DIFF_H
#define IRRUN_CLI_DIFF_H

#include "cli/options.h"

struct diff;

/* Returns whether the reference is the model with other options. Otherwise it is a file. */
bool diff_runs_model(const struct options *options);

/* Loads the model with the options of the reference. model_options: the options of the run.
 * *reference is NULL if the reference is a file, or without --diff. */
bool diff_load(const struct options *options, const struct irrun_options *model_options,
               struct irrun_model **reference, struct irrun_error *err);

/* Opens the reference: a session of the model `reference` or, if it is NULL, the file. Borrows its
 * arguments. *diff is NULL without --diff. */
bool diff_new(struct irrun_model *model, struct irrun_model *reference,
              const struct irrun_session *session, const struct options *options,
              struct diff **diff, struct irrun_error *err);
void diff_free(struct diff *diff); /* accepts NULL, as the functions below do */

/* Copies the variables of the session to the reference. Call it after they are set or reset. */
bool diff_copy_variables(struct diff *diff, struct irrun_error *err);

/* Compares the tensors of one iteration. Fails with IRRUN_MISMATCH if a tensor differs. */
bool diff_compare(struct diff *diff, uint64_t record, struct irrun_error *err);

/* Compares the tensors for which the file holds only the last iteration. Call it after the last of
 * n iterations. */
bool diff_finish(struct diff *diff, uint64_t n, struct irrun_error *err);

#endif
