/* --diff: runs beside a reference, and stops at the first op whose output departs from it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_DIFF_H
#define IRRUN_CLI_DIFF_H

#include "cli/options.h"

struct diff;

/* Whether the reference is irrun itself with other options, not a file. */
bool diff_is_own(const struct options *options);

/* Loads the model with the options of the reference; how: those of the run. *reference is NULL
 * where there is no such model. */
bool diff_load(const struct options *options, const struct irrun_options *how,
               struct irrun_model **reference, struct irrun_error *err);

/* Compares what `session` computes. The models, options and session are borrowed. *diff is NULL
 * without --diff. */
bool diff_new(struct irrun_model *model, struct irrun_model *reference,
              const struct irrun_session *session, const struct options *options,
              struct diff **diff, struct irrun_error *err);
void diff_free(struct diff *diff); /* NULL is allowed, here and below */

/* The variables of the session were set or reset: those of the reference become the same. */
bool diff_follow(struct diff *diff, struct irrun_error *err);

/* After an iteration: IRRUN_MISMATCH if a tensor departs. */
bool diff_take(struct diff *diff, uint64_t record, struct irrun_error *err);

/* After the last of n iterations: compares with a file that has this one only. */
bool diff_finish(struct diff *diff, uint64_t n, struct irrun_error *err);

#endif
