/* Rounds the constant factors of products to 16 bits, for --precision.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_LOWER_PRECISION_H
#define IRRUN_PLAN_LOWER_PRECISION_H

#include "plan/model.h"
#include "plan/remarks.h"

/* With model->precision, rounds the f32 constants among op_def.factors, in the model's graph and
 * its bodies: they become f16 and then f32 again, so that prepare_constant finds f16. Quantized
 * weights are kept as they are. The pass sorts the graphs. Adds a line to *remarks for each. */
bool lower_precision(const struct model *model, struct remarks *remarks, struct irrun_error *err);

#endif
