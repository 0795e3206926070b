/* Corrects int8 convolutions at the borders of the image. A pad is the real number 0. If no level
 * of the input is 0, the pads get the nearest level, and the bias corrects the difference: it
 * depends on how many taps of an output pixel are inside the image.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INT8_BORDERS_H
#define IRRUN_OPS_INT8_BORDERS_H

#include "kernels/sliding_window.h"
#include "ops/op.h"

/* For each channel of all groups: the bias of a pixel is scale * (the sum of the filter elements
 * whose taps are inside the image) + shift. */
struct border_terms {
    const int32_t *sums; /* [kernel[0] + 1][kernel[1] + 1][channels]: sum of all taps above and to
                          * the left of this one; NULL: a level is 0,
                          * and nothing is corrected */
    const double *scale, *shift;
};

/* The biases, by class of the row and of the column of the output. */
struct int8_borders {
    const float *biases;        /* [classes of rows][classes of columns][n_channels]; NULL: none */
    const uint32_t *classes[2]; /* of each row, of each column */
    size_t n_classes[2], n_channels;
};

/* Computes the biases, in the plan's memory, for dimensions 1 and 2 of the window. They stay NULL
 * if no window extends beyond the image. Returns false with *err filled on failure. */
bool int8_borders_find(struct prepare *prepare, const struct window *window,
                       const struct border_terms *terms, size_t n_channels,
                       struct int8_borders *borders);

static inline const float *int8_borders_bias(const struct int8_borders *borders, size_t row,
                                             size_t column)
{
    size_t at = borders->classes[0][row] * borders->n_classes[1] + borders->classes[1][column];
    return borders->biases + at * borders->n_channels;
}

#endif
