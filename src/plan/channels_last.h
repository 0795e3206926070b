/* Converts chains of convolutions to channels last ([n][h][w][c], NHWC): depthwise ones and their
 * neighbours; in a model without grouped convolutions, those whose output channels fill
 * vectors. A pixel is then a row of a matrix, and its channels are in the lanes of vectors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_CHANNELS_LAST_H
#define IRRUN_PLAN_CHANNELS_LAST_H

#include "plan/model.h"
#include "plan/remarks.h"

/* Rewrites such chains, with their element-wise ops, MaxPools and reductions over all positions, in
 * the model's graph, and sorts it again. The first and the last convolution of a chain convert the
 * order; where a chain has no such end, an op is inserted. */
bool channels_last_place(const struct model *model, struct remarks *remarks,
                         struct irrun_error *err);

#endif
