/* Grid sampling with plain loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/grid_sample.h"

#include <math.h>

#include "kernels/float_element.h"

#define FAR 0x1p40  /* coordinates are clamped to this, so that they fit into integers */
#define CUBIC -0.75 /* the parameter a of cubic convolution (Keys 1981), as in OpenVINO */

static double clamp_coordinate(double x)
{
    return x < -FAR ? -FAR : x < FAR ? x : FAR;
}

/* Applies the padding mode to index i along an axis of n elements. Returns the index of the element
 * to use; -1 stands for a zero. */
static int64_t apply_padding(const struct grid_plane *plane, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    if (plane->padding == GRID_ZEROS)
        return -1;
    if (plane->padding == GRID_BORDER)
        return i < 0 ? 0 : n - 1;
    if (plane->align_corners) { /* indices 0 1 2 1 0 1 … */
        int64_t period = n > 1 ? 2 * (n - 1) : 1;
        i = (i < 0 ? -i : i) % period;
        return i < n ? i : period - i;
    }
    int64_t period = 2 * n; /* indices 0 1 2 2 1 0 0 … */
    i = (i % period + period) % period;
    return i < n ? i : period - 1 - i;
}

/* The n neighbours of a point along one axis, from index `first` on. */
struct neighbours {
    int64_t first;
    int n;
    double weight[4];
};

static struct neighbours find_neighbours(enum grid_mode mode, double x)
{
    x = clamp_coordinate(x);
    if (mode == GRID_NEAREST)
        return (struct neighbours){(int64_t)nearbyint(x), 1, {1}};
    double base = floor(x), s = x - base;
    if (mode == GRID_BILINEAR)
        return (struct neighbours){(int64_t)base, 2, {1 - s, s}};
    return (struct neighbours){(int64_t)base - 1,
                               4,
                               {
                                   CUBIC * s * (s - 1) * (s - 1),
                                   ((CUBIC + 2) * s - (CUBIC + 3)) * s * s + 1,
                                   (((-CUBIC - 2) * s + (2 * CUBIC + 3)) * s - CUBIC) * s,
                                   -CUBIC * s * s * (s - 1),
                               }};
}

void grid_find(const struct grid_plane *plane, double x, double y, struct grid_point *point)
{
    struct neighbours columns = find_neighbours(plane->mode, x);
    struct neighbours rows = find_neighbours(plane->mode, y);
    point->n = 0;
    for (int r = 0; r < rows.n; r++) {
        int64_t row = apply_padding(plane, rows.first + r, plane->height);
        for (int c = 0; c < columns.n; c++) {
            int64_t column = apply_padding(plane, columns.first + c, plane->width);
            double weight = rows.weight[r] * columns.weight[c];
            if (row < 0 || column < 0 || weight == 0)
                continue;
            point->index[point->n] = (size_t)(row * plane->width + column);
            point->weight[point->n++] = weight;
        }
    }
}

void grid_sample(enum irrun_dtype dtype, const struct grid_point *points, size_t n, const void *in,
                 void *out)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < points[i].n; k++)
            sum += points[i].weight[k] * float_load(dtype, in, points[i].index[k]);
        float_store(dtype, out, i, sum);
    }
}
