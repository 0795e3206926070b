/* Keeps compressed weights (integers or small floats times a scale) as they are stored if a product
 * or a Gather reads them. In a model with variables and a file of 256 MB or more, also keeps
 * f32, f16 and bf16 matrices of 1 MB or more that a product reads; --gemm=packed packs them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_COMPRESSED_WEIGHTS_H
#define IRRUN_PLAN_COMPRESSED_WEIGHTS_H

#include "plan/model.h"
#include "plan/remarks.h"

/* Rewrites such ops of the model's graph and sorts it again. Adds a line to *remarks for each. */
bool compressed_weights_keep(const struct model *model, struct remarks *remarks,
                             struct irrun_error *err);

#endif
