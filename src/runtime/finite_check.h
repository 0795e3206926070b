/* Runs steps and checks the outputs of every op for NaN and infinities.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_FINITE_CHECK_H
#define IRRUN_RUNTIME_FINITE_CHECK_H

#include "runtime/runner.h"

/* Runs the steps. Fails with IRRUN_MISMATCH if a float output has a NaN, or an infinity if
 * model->allows_inf is not set. The error names the op, its place, the output, the index and the
 * value. If the value comes from an input of the model, it names that input instead. */
bool finite_run(struct runner *runner, const struct plan *plan, const struct step *steps,
                uint32_t n_steps, struct irrun_error *err);

/* Must be called after an op has failed. If a Parameter of its body holds the value, reports the
 * input of the model that the value comes from, if any. Returns false. */
bool finite_blame(struct runner *runner, const struct plan *plan, const struct op *op,
                  struct irrun_error *err);

/* Checks Results that no step has written: inputs and constants. */
bool finite_check_results(const struct plan *plan, struct irrun_error *err);

#endif
