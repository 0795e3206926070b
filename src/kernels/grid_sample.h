/* Samples a plane at fractional coordinates: finds the elements near each point and their weights,
 * and computes the weighted sums.
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
    bool align_corners;    /* reflects at the centres of the border elements, not at their edges */
    int64_t height, width; /* neither is 0 */
};

#define GRID_MAX_TAPS 16

/* The elements from which a point is interpolated, and their weights. n may be 0; the sum is then
 * 0. */
struct grid_point {
    size_t n;
    size_t index[GRID_MAX_TAPS]; /* row * width + column */
    double weight[GRID_MAX_TAPS];
};

/* Finds the elements for point (x, y). Coordinates are in elements; 0 is the centre of the first
 * element. A NaN is treated as a coordinate far outside. */
void grid_find(const struct grid_plane *plane, double x, double y, struct grid_point *point);

/* Writes the sums for n points in a plane of f32 or f64. */
void grid_sample(enum irrun_dtype dtype, const struct grid_point *points, size_t n, const void *in,
                 void *out);

#endif
