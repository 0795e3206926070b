/* Runs convolutions and products between FakeQuantizes in integers. Values between them are u8, and
 * the bias, ReLU and the next FakeQuantize become one scaling of the sums.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_INT8_CONVOLUTIONS_H
#define IRRUN_PLAN_INT8_CONVOLUTIONS_H

#include "plan/model.h"
#include "plan/remarks.h"

/* Rewrites the convolutions and products of the model's graph whose weights and ranges allow it,
 * and sorts it again. Adds a line to *remarks for each, including those that do not qualify. */
bool int8_convolutions_replace(const struct model *model, struct remarks *remarks,
                               struct irrun_error *err);

#endif
