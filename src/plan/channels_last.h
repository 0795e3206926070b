/* Chains of depthwise and other convolutions compute with the channels last ([n][h][w][c], NHWC):
 * a pixel is then a row of a matrix, and its channels are in the lanes of vectors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_CHANNELS_LAST_H
#define IRRUN_PLAN_CHANNELS_LAST_H

#include "plan/model.h"
#include "plan/remarks.h"

/* Rewrites the convolutions of the model's graph, and the element-wise ops between them, if there
 * are depthwise ones among them, and sorts it again. The first and the last convolution of a chain
 * change the order; at other ends an op does. */
bool channels_last_place(const struct model *model, struct remarks *remarks,
                         struct irrun_error *err);

#endif
