/* Samples a plane at any coordinates: finds the elements near each point and their weights, and
 * computes the weighted sum.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IRRUN_KERNELS_GRID_SAMPLE_H
#define IRRUN_KERNELS_GRID_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "irrun.h"

enum grid_mode { GRID_BILINEAR, GRID_BICUBIC, GRID_NEAREST };
enum grid_padding { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION };

struct grid_plane {
    enum grid_mode mode;
    enum grid_padding padding;
    bool align_corners;    /* reflects at the centres of the border elements, not at edges */
    int64_t height, width; /* neither is 0 */
};

#define GRID_MAX_TAPS 16

/* The elements that a point is interpolated from, and their weights. A sum of no elements is 0. */
struct grid_point {
    size_t n;
    size_t index[GRID_MAX_TAPS]; /* row * width + column */
    double weight[GRID_MAX_TAPS];
};

/* Finds the elements for (x, y). The unit is an element; 0 is the centre of the first. NaN counts
 * as far outside. */
void grid_find(const struct grid_plane *plane, double x, double y, struct grid_point *point);

/* Writes the sums of n points of a plane of f32 or f64. */
void grid_sample(enum irrun_dtype dtype, const struct grid_point *points, size_t n, const void *in,
                 void *out);

#endif
