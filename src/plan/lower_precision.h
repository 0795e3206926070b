/* Rounds the constant factors of products to 16 bits, for --precision.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_LOWER_PRECISION_H
#define IRRUN_PLAN_LOWER_PRECISION_H

#include "plan/model.h"
#include "plan/remarks.h"

/* With kernels.precision, rounds the f32 and f16 constants among op_def.factors, in the graph of
 * the model and in its bodies, except filters that would not be faster. It inserts a
 * conversion to f16 or bf16 and one back, where prepare_constant finds the 16-bit values. Quantized
 * weights are kept as they are. The pass sorts the graphs. Adds a line to *remarks for each
 * constant. */
bool lower_precision(const struct model *model, struct remarks *remarks, struct irrun_error *err);

#endif
