/* Runs steps and checks the outputs of every op for NaN and infinities.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_FINITE_CHECK_H
#define IRRUN_RUNTIME_FINITE_CHECK_H

#include "runtime/runner.h"

/* Runs the steps. IRRUN_MISMATCH if a float output of one holds a NaN, or an infinity unless the
 * model lets_inf_pass: with the op, its place, the output, the index and the value; or, if an input
 * of the model held it and the op failed because of that, with the input. */
bool finite_run(struct runner *runner, const struct plan *plan, const struct step *steps,
                uint32_t n_steps, struct irrun_error *err);

/* Reports the input of the model that a bad value came from, if any. Called after an op failed,
 * perhaps in its body because of the value of a Parameter. Returns false. */
bool finite_blame(struct runner *runner, const struct plan *plan, const struct op *op,
                  struct irrun_error *err);

/* Checks Results that no step has written: inputs and constants. */
bool finite_check_results(const struct plan *plan, struct irrun_error *err);

#endif
