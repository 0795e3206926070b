/* GridSample-9: samples planes, images of one channel, at a grid of coordinates from -1 to 1.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "kernels/grid_sample.h"
#include "ops/op.h"

enum { DATA, GRID };

struct grid_sample_attrs {
    bool align_corners;
    int mode, padding_mode;
};

struct grid_sample_state {
    struct grid_plane plane;
    size_t n_batches, n_channels, n_points; /* n_points: per batch element */
};

static const struct attr_def attr_table[] = {
    ATTR(struct grid_sample_attrs, align_corners, "false"),
    ATTR_CHOICE(struct grid_sample_attrs, mode, "bilinear", "bilinear|bicubic|nearest"),
    ATTR_CHOICE(struct grid_sample_attrs, padding_mode, "zeros", "zeros|border|reflection"),
};

static const struct op_input_def inputs[] = {
    {"data", .types = TYPES_NUMBER},
    {"grid", .types = TYPES_FLOAT},
};

static bool infer(struct infer *infer)
{
    const struct grid_sample_attrs *attrs = infer->attrs;
    struct grid_sample_state *state = infer->state;
    const struct irrun_shape *data = &infer->in[DATA]->shape, *grid = &infer->in[GRID]->shape;
    if (data->rank != 4)
        return infer_fail_input(infer, DATA, "[N,C,H,W]");
    if (grid->rank != 4 || grid->dims[0] != data->dims[0] || grid->dims[3] != 2)
        return infer_fail_input(infer, GRID, "[%lld,H_out,W_out,2]", (long long)data->dims[0]);
    struct irrun_shape out = {.rank = 4,
                              .dims = {data->dims[0], data->dims[1], grid->dims[1], grid->dims[2]}};
    if (!infer_output(infer, 0, infer->in[DATA]->dtype, &out))
        return false;
    if (shape_n_elements(&out) > 0 && shape_product(data, 2, 4) == 0)
        return infer_fail_input(infer, DATA, "planes that are not empty");
    *state = (struct grid_sample_state){
        .plane = {(enum grid_mode)attrs->mode, (enum grid_padding)attrs->padding_mode,
                  attrs->align_corners, data->dims[2], data->dims[3]},
        .n_batches = (size_t)data->dims[0],
        .n_channels = (size_t)data->dims[1],
        .n_points = (size_t)shape_product(grid, 1, 3),
    };
    return true;
}

/* Converts a coordinate in -1 … 1 to a position in elements. f32 coordinates are converted in f32,
 * as in the reference, because rounding affects which element nearest mode selects. */
static double to_elements(const struct grid_plane *plane, const struct irrun_tensor *grid, size_t k,
                          int64_t n)
{
    if (grid->dtype == IRRUN_F32) {
        float x = ((const float *)grid->data)[k] + 1, size = (float)n;
        return (double)(plane->align_corners ? x * (size - 1) / 2 : (x * size - 1) / 2);
    }
    double x = ((const double *)grid->data)[k] + 1, size = (double)n;
    return plane->align_corners ? x * (size - 1) / 2 : (x * size - 1) / 2;
}

/* Samples integers: nearest mode copies the element; the other modes round toward zero. */
static void sample_integers(const struct grid_point *points, size_t n, enum irrun_dtype dtype,
                            bool is_nearest, const char *in, char *out)
{
    size_t size = dtype_size(dtype);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < points[i].n; k++)
            sum += points[i].weight[k] * element_as_f64(dtype, in, points[i].index[k]);
        if (is_nearest && points[i].n > 0)
            memcpy(out + i * size, in + points[i].index[0] * size, size);
        else
            convert_elements(IRRUN_F64, &sum, dtype, out + i * size, 1);
    }
}

#define BLOCK 64 /* points whose weights are computed at a time, for all channels */

static void run(const struct step *step)
{
    const struct grid_sample_state *state = step->state;
    const struct grid_plane *plane = &state->plane;
    const struct irrun_tensor *grid = step->in[GRID];
    enum irrun_dtype dtype = step->in[DATA]->dtype;
    size_t n_plane = (size_t)(plane->height * plane->width);
    struct grid_point points[BLOCK];
    if (shape_n_elements(&step->out[0]->shape) == 0)
        return;
    for (size_t batch = 0; batch < state->n_batches; batch++) {
        for (size_t first = 0; first < state->n_points; first += BLOCK) {
            size_t n = state->n_points - first < BLOCK ? state->n_points - first : BLOCK;
            for (size_t i = 0; i < n; i++) {
                size_t k = 2 * (batch * state->n_points + first + i);
                grid_find(plane, to_elements(plane, grid, k, plane->width),
                          to_elements(plane, grid, k + 1, plane->height), &points[i]);
            }
            for (size_t channel = 0; channel < state->n_channels; channel++) {
                size_t at = batch * state->n_channels + channel;
                const void *in = tensor_at(step->in[DATA], at * n_plane);
                void *out = tensor_at(step->out[0], at * state->n_points + first);
                if (dtype == IRRUN_F32 || dtype == IRRUN_F64)
                    grid_sample(dtype, points, n, in, out);
                else
                    sample_integers(points, n, dtype, plane->mode == GRID_NEAREST, in, out);
            }
        }
    }
}

const struct op_def op_grid_sample = {
    .type = "GridSample",
    .opset = 9,
    OP_INPUTS(inputs),
    OP_ATTRS(attr_table, struct grid_sample_attrs),
    .state_size = sizeof(struct grid_sample_state),
    .infer = infer,
    .compute = run,
};
