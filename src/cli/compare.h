/* --expect: compares the outputs of the iterations with files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_CLI_COMPARE_H
#define IRRUN_CLI_COMPARE_H

#include "cli/json.h"
#include "cli/options.h"

struct compare;

/* Opens the files of --expect for the outputs that they name. *compare is NULL without --expect. */
bool compare_new(const struct irrun_model *model, const struct options *options,
                 struct compare **compare, struct irrun_error *err);
void compare_free(struct compare *compare); /* accepts NULL */

/* Compares the outputs of one iteration with the files. values: all outputs of the model, in the
 * order of the model. Fails if a file cannot be read; compare_finish reports differences. */
bool compare_iteration(struct compare *compare, const struct irrun_tensor *const *values,
                       struct irrun_error *err);

/* Ends the comparison. Fails with IRRUN_MISMATCH if an output differs; the message lists every such
 * output with its worst element and the number of elements that differ. */
bool compare_finish(struct compare *compare, struct irrun_error *err);

/* Adds an item to the report for each compared output: its file, tolerances and worst element. */
void compare_report(const struct compare *compare, struct json *json);

#endif
