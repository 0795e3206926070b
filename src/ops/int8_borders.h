/* Corrects int8 convolutions at the borders of the image. A pad represents the number 0. If no
 * quantization level of the input is 0, pads are filled with the nearest level, and the bias
 * corrects the difference, which depends on the taps of an output pixel that are inside the image.
 * Output rows with the same taps inside form a class, and so do output columns.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INT8_BORDERS_H
#define IRRUN_OPS_INT8_BORDERS_H

#include "kernels/sliding_window.h"
#include "ops/op.h"

/* For each channel of all groups: the bias of a pixel is scale * (the sum of the filter elements
 * whose taps are inside the image) + shift. */
struct border_terms {
    /* Summed-area tables [kernel[0] + 1][kernel[1] + 1][channels]: element [y][x] is the sum of
     * taps [0, y) x [0, x). NULL: a level is 0, and nothing is corrected. */
    const int32_t *sums;
    const double *scale, *shift;
};

/* The biases of a pixel depend on the class of its row and the class of its column. Index 0 of
 * `classes` and `n_classes` is for rows, index 1 for columns. */
struct int8_borders {
    const float *biases;        /* [classes of rows][classes of columns][n_channels]; NULL: none */
    const uint32_t *classes[2]; /* the class of each row and of each column */
    size_t n_classes[2], n_channels;
};

/* Returns whether a window extends beyond the image along dimension d. */
bool int8_exceeds_image(const struct window *window, int d);

/* Computes the biases for dimensions 1 and 2 of the window. They are allocated from the plan's
 * arena. borders->biases stays NULL if no window extends beyond the image. Returns false with *err
 * filled on failure. */
bool int8_borders_plan(struct prepare *prepare, const struct window *window,
                       const struct border_terms *terms, size_t n_channels,
                       struct int8_borders *borders);

/* Returns the biases of the channels of a pixel. */
static inline const float *int8_borders_bias(const struct int8_borders *borders, size_t row,
                                             size_t column)
{
    size_t at = borders->classes[0][row] * borders->n_classes[1] + borders->classes[1][column];
    return borders->biases + at * borders->n_channels;
}

#endif
