/* Reads constant filters as 8-bit integers with a scale per output channel.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_PLAN_INT8_WEIGHTS_H
#define IRRUN_PLAN_INT8_WEIGHTS_H

#include "plan/model.h"

struct int8_weights {
    size_t n_channels, n_inner; /* n_inner: elements per channel */
    int8_t *elements;           /* [n_channels][n_inner] */
    float *scales;              /* [n_channels] */
};

/* Returns whether an op only moves elements of input 0, as Reshape, Split, a Pad without a constant
 * and an Interpolate to the nearest elements do. */
bool int8_moves_elements(const struct op *op);

/* Returns the data of an f32 constant; NULL for any other value, or with *err filled on failure. */
const struct irrun_tensor *int8_floats(struct model *model, const struct graph *graph,
                                       uint32_t value_id, struct irrun_error *err);

/* Recovers the int8 values and the scale of each channel of constant `value_id`, in the model's
 * arena. The Multiply or FakeQuantize that computes it gives the scales. If n_taps is 0,
 * the channels are the first dimension or the first two. Otherwise the constant is
 * [n_inner][n][n_taps], with n = n_channels / n_taps: channel i is tap i / n of element i % n. Sets
 * *is_found if every element is an int8 times the scale of its channel. Returns false with *err
 * filled on failure. */
bool int8_weights_find(struct model *model, const struct graph *graph, uint32_t value_id,
                       size_t n_channels, size_t n_taps, struct int8_weights *weights,
                       bool *is_found, struct irrun_error *err);

#endif
