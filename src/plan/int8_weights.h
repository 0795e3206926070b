/* Constant filters as 8-bit integers and a scale for every output channel.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_INT8_WEIGHTS_H
#define IRRUN_PLAN_INT8_WEIGHTS_H

#include "plan/model.h"

struct int8_weights {
    size_t n_channels, n_inner; /* elements of a channel */
    int8_t *elements;           /* [n_channels][n_inner] */
    float *scales;              /* [n_channels] */
};

/* What the constant `value_id` is, in the model's arena; the scales are those that its producers
 * multiply with. Its channels are the first dimension, or, if they are columns, the last one.
 * *is_found: that the scales give the elements. False with *err filled on failure. */
bool int8_weights_find(struct model *model, const struct graph *graph, uint32_t value_id,
                       bool are_columns, struct int8_weights *weights, bool *is_found,
                       struct irrun_error *err);

#endif
