/* What pads add to the results of a convolution of bytes. Where no level of the input is 0, pads
 * hold the nearest one; what that is off is made good by the bias, which then depends on how many
 * taps of a pixel lie inside the image.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_OPS_INT8_BORDERS_H
#define IRRUN_OPS_INT8_BORDERS_H

#include "kernels/sliding_window.h"
#include "ops/op.h"

/* For every channel of all groups: its bias is scale * the sum of the filter's elements whose taps
 * are inside + shift. */
struct border_terms {
    const int32_t *sums; /* [kernel[0] + 1][kernel[1] + 1][channels]: of all taps above, to the left
                            of this one; NULL: a level is 0 */
    const double *scale, *shift;
};

/* The biases by classes of rows and of columns of the output. */
struct int8_borders {
    const float *biases; /* [classes of rows][classes of columns][n_channels]; NULL: one for all */
    const uint32_t *classes[2]; /* per row, per column */
    size_t n_classes[2], n_channels;
};

/* Works them out, in the plan's memory, for dimensions 1 and 2 of the window. Left as zeros if no
 * pixel looks beyond the image. False with *err filled on failure. */
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
