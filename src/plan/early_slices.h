/* Moves slices of one position of an axis, the first or the last, before the ops that compute each
 * position on its own, so that these compute only that one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_EARLY_SLICES_H
#define IRRUN_PLAN_EARLY_SLICES_H

#include "plan/model.h"
#include "plan/remarks.h"

/* Rewrites the model's graph and sorts it again if at least one product then computes less. Adds a
 * line to *remarks for each product. takes_last: for each Result, whether only the last position of
 * its last axis but one is read, if it has three axes or more; the Result may then have only this
 * position. */
bool early_slices_move(const struct model *model, const bool *takes_last, struct remarks *remarks,
                       struct irrun_error *err);

#endif
