/* Convolutions between FakeQuantizes run in integers: values travel as bytes, and what stands
 * behind the sums (a bias, ReLU, the next FakeQuantize) is one scaling.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_INT8_CONVOLUTIONS_H
#define IRRUN_PLAN_INT8_CONVOLUTIONS_H

#include "plan/model.h"
#include "plan/remarks.h"

/* Rewrites those of the model's graph whose weights and ranges allow it, and sorts it
 * again. *remarks gets a line for each, and for each that is left as it is. */
bool int8_convolutions_replace(const struct model *model, struct remarks *remarks,
                               struct irrun_error *err);

#endif
