/* Looking for NaN and infinities in what ops have computed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_RUNTIME_FINITE_CHECK_H
#define IRRUN_RUNTIME_FINITE_CHECK_H

#include "ops/op.h"

/* IRRUN_MISMATCH if a float output of the step, which has run, holds a NaN or an infinity: with the
 * op, its place, the output, the index and the value. */
bool finite_check(const struct step *step, struct irrun_error *err);

#endif
